// What `python tests/playground.py` recorded: every query of the playground and its answers.
const RECORDED = {
"streams": {
"trades.csv": "type,ts,symbol,price\nBuy,2024-05-02T09:30:00,ACME,100\nBuy,2024-05-02T09:30:10,BOLT,103\nNews,2024-05-02T09:30:20,ACME,\nSell,2024-05-02T09:30:30,ACME,104\nBuy,2024-05-02T09:30:40,ACME,101\nSell,2024-05-02T09:30:50,BOLT,106\nSell,2024-05-02T09:31:40,ACME,108\n",
"logins.csv": "type,ts,host\nFailed,2024-05-02T08:00:00,h1\nFailed,2024-05-02T08:00:05,h1\nLogin,2024-05-02T08:00:10,h1\nFailed,2024-05-02T08:01:00,h2\nReset,2024-05-02T08:01:30,h2\nFailed,2024-05-02T08:02:00,h2\nLogin,2024-05-02T08:02:20,h2\n",
"clicks.csv": "type,ts,page\nClick,2024-05-02T10:00:00,home\nClick,2024-05-02T10:00:10,list\nScroll,2024-05-02T10:00:20,list\nClick,2024-05-02T10:00:30,item\nLeave,2024-05-02T10:00:40,\n",
"payments.csv": "type,ts,amount\nCard,2024-05-02T11:00:00,40\nCash,2024-05-02T11:05:00,15\nVoucher,2024-05-02T11:10:00,20\nRefund,2024-05-02T11:20:00,20\nCard,2024-05-02T11:30:00,60\nRefund,2024-05-02T11:45:00,60\n",
"prices.csv": "type,ts,price\nTrade,2024-05-02T10:00:00,100\nTrade,2024-05-02T10:01:00,104\nTrade,2024-05-02T10:02:00,98\nTrade,2024-05-02T10:03:00,106\nTrade,2024-05-02T10:04:00,103\nTrade,2024-05-02T10:05:00,108\n",
"shop.csv": "type,ts,user\nView,2024-05-02T10:00:00,ann\nCart,2024-05-02T10:08:00,ann\nView,2024-05-02T10:10:00,bob\nCart,2024-05-02T10:12:00,bob\nBuy,2024-05-02T10:25:00,ann\nBuy,2024-05-02T10:40:00,bob\n",
"orders.csv": "type,ts,number,by\nOrder,2024-05-02T09:00:00,1,\nChange,2024-05-02T09:10:00,1,2\nPay,2024-05-02T09:20:00,1,\nOrder,2024-05-02T09:30:00,2,\nChange,2024-05-02T09:40:00,2,8\nPay,2024-05-02T09:50:00,2,\nShip,2024-05-02T10:00:00,1,\nPay,2024-05-02T10:10:00,1,\n",
"sessions.csv": "type,ts,user\nLogon,2024-05-02T08:00:00,ann\nLogon,2024-05-02T09:00:00,bob\nLogoff,2024-05-02T12:00:00,ann\nLogon,2024-05-02T13:00:00,ann\nLogoff,2024-05-02T17:30:00,bob\nLogoff,2024-05-02T21:00:00,ann\nLogon,2024-05-02T22:00:00,bob\n",
"steps.csv": "type,ts\nA,2024-05-02T10:00:00\nB,2024-05-02T10:00:10\nA,2024-05-02T10:00:20\nB,2024-05-02T10:00:30\nC,2024-05-02T10:00:40\n"
},
"examples": [
{
"key": "sequence",
"title": "Sequence",
"page": "language/sequence.md",
"said": "With a semicolon, anything may come between: every purchase with every later sale is a match.",
"stream": "trades.csv",
"query": [
"SELECT x, y WHERE ",
"first",
" AS x ; ",
"second",
" AS y"
],
"params": {},
"places": {
"first": {
"label": "type of the first event",
"options": [
"Buy",
"News",
"Sell"
]
},
"second": {
"label": "type of the second event",
"options": [
"Sell",
"Buy"
]
}
},
"answers": {
"0,0": {
"command": "cer run 'SELECT x, y WHERE Buy AS x ; Sell AS y' trades.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 0
},
"0,1": {
"command": "cer run 'SELECT x, y WHERE Buy AS x ; Buy AS y' trades.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"1",
"0",
"1"
],
[
"0",
"4",
"0",
"4"
],
[
"1",
"4",
"1",
"4"
]
],
"picture": 1
},
"1,0": {
"command": "cer run 'SELECT x, y WHERE News AS x ; Sell AS y' trades.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"2",
"3",
"2",
"3"
],
[
"2",
"5",
"2",
"5"
],
[
"2",
"6",
"2",
"6"
]
],
"picture": 2
},
"1,1": {
"command": "cer run 'SELECT x, y WHERE News AS x ; Buy AS y' trades.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"2",
"4",
"2",
"4"
]
],
"picture": 3
},
"2,0": {
"command": "cer run 'SELECT x, y WHERE Sell AS x ; Sell AS y' trades.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"3",
"5",
"3",
"5"
],
[
"3",
"6",
"3",
"6"
],
[
"5",
"6",
"5",
"6"
]
],
"picture": 4
},
"2,1": {
"command": "cer run 'SELECT x, y WHERE Sell AS x ; Buy AS y' trades.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"3",
"4",
"3",
"4"
]
],
"picture": 5
}
}
},
{
"key": "contiguous",
"title": "Nothing between",
"page": "language/contiguous.md",
"said": "With a colon, nothing may come between: the reset breaks the sequence of two failures and a log-in.",
"stream": "logins.csv",
"query": [
"SELECT f, g, l WHERE Failed AS f ",
"first",
" Failed AS g ",
"second",
" Login AS l"
],
"params": {},
"places": {
"first": {
"label": "between the failures",
"options": [
":",
";"
]
},
"second": {
"label": "before the log-in",
"options": [
":",
";"
]
}
},
"answers": {
"0,0": {
"command": "cer run 'SELECT f, g, l WHERE Failed AS f : Failed AS g : Login AS l' logins.csv --order-by ts",
"names": [
"start",
"end",
"f",
"g",
"l"
],
"rows": [
[
"0",
"2",
"0",
"1",
"2"
]
],
"picture": 6
},
"0,1": {
"command": "cer run 'SELECT f, g, l WHERE Failed AS f : Failed AS g ; Login AS l' logins.csv --order-by ts",
"names": [
"start",
"end",
"f",
"g",
"l"
],
"rows": [
[
"0",
"2",
"0",
"1",
"2"
],
[
"0",
"6",
"0",
"1",
"6"
]
],
"picture": 7
},
"1,0": {
"command": "cer run 'SELECT f, g, l WHERE Failed AS f ; Failed AS g : Login AS l' logins.csv --order-by ts",
"names": [
"start",
"end",
"f",
"g",
"l"
],
"rows": [
[
"0",
"2",
"0",
"1",
"2"
],
[
"0",
"6",
"0",
"5",
"6"
],
[
"1",
"6",
"1",
"5",
"6"
],
[
"3",
"6",
"3",
"5",
"6"
]
],
"picture": 8
},
"1,1": {
"command": "cer run 'SELECT f, g, l WHERE Failed AS f ; Failed AS g ; Login AS l' logins.csv --order-by ts",
"names": [
"start",
"end",
"f",
"g",
"l"
],
"rows": [
[
"0",
"2",
"0",
"1",
"2"
],
[
"0",
"6",
"0",
"1",
"6"
],
[
"0",
"6",
"0",
"3",
"6"
],
[
"0",
"6",
"0",
"5",
"6"
],
[
"1",
"6",
"1",
"3",
"6"
],
[
"1",
"6",
"1",
"5",
"6"
],
[
"3",
"6",
"3",
"5",
"6"
]
],
"picture": 9
}
}
},
{
"key": "iteration",
"title": "One or more",
"page": "language/iteration.md",
"said": "Every choice of clicks is a match; MAX keeps the matches that no other match contains.",
"stream": "clicks.csv",
"query": [
"SELECT ",
"kept",
" c WHERE (Click AS c) ",
"times",
" ; Leave"
],
"params": {},
"places": {
"kept": {
"label": "which answers are kept",
"options": [
"ALL",
"MAX"
]
},
"times": {
"label": "how often",
"options": [
"+",
":+",
"{2}",
":{2}",
"{2,}"
]
}
},
"answers": {
"0,0": {
"command": "cer run 'SELECT ALL c WHERE (Click AS c) + ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0"
],
[
"0",
"4",
"0, 1"
],
[
"0",
"4",
"0, 1, 3"
],
[
"0",
"4",
"0, 3"
],
[
"1",
"4",
"1"
],
[
"1",
"4",
"1, 3"
],
[
"3",
"4",
"3"
]
],
"picture": 10
},
"0,1": {
"command": "cer run 'SELECT ALL c WHERE (Click AS c) :+ ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0"
],
[
"0",
"4",
"0, 1"
],
[
"1",
"4",
"1"
],
[
"3",
"4",
"3"
]
],
"picture": 11
},
"0,2": {
"command": "cer run 'SELECT ALL c WHERE (Click AS c) {2} ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0, 1"
],
[
"0",
"4",
"0, 3"
],
[
"1",
"4",
"1, 3"
]
],
"picture": 12
},
"0,3": {
"command": "cer run 'SELECT ALL c WHERE (Click AS c) :{2} ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0, 1"
]
],
"picture": 13
},
"0,4": {
"command": "cer run 'SELECT ALL c WHERE (Click AS c) {2,} ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0, 1"
],
[
"0",
"4",
"0, 1, 3"
],
[
"0",
"4",
"0, 3"
],
[
"1",
"4",
"1, 3"
]
],
"picture": 14
},
"1,0": {
"command": "cer run 'SELECT MAX c WHERE (Click AS c) + ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0, 1, 3"
]
],
"picture": 15
},
"1,1": {
"command": "cer run 'SELECT MAX c WHERE (Click AS c) :+ ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0, 1"
],
[
"3",
"4",
"3"
]
],
"picture": 16
},
"1,2": {
"command": "cer run 'SELECT MAX c WHERE (Click AS c) {2} ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0, 1"
],
[
"0",
"4",
"0, 3"
],
[
"1",
"4",
"1, 3"
]
],
"picture": 12
},
"1,3": {
"command": "cer run 'SELECT MAX c WHERE (Click AS c) :{2} ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0, 1"
]
],
"picture": 13
},
"1,4": {
"command": "cer run 'SELECT MAX c WHERE (Click AS c) {2,} ; Leave' clicks.csv --order-by ts",
"names": [
"start",
"end",
"c"
],
"rows": [
[
"0",
"4",
"0, 1, 3"
]
],
"picture": 15
}
}
},
{
"key": "or",
"title": "Either",
"page": "language/or.md",
"said": "Either kind of payment, and a later refund.",
"stream": "payments.csv",
"query": [
"SELECT p, r WHERE (",
"left",
" AS p OR ",
"right",
" AS p) ",
"then",
" Refund AS r"
],
"params": {},
"places": {
"left": {
"label": "one kind",
"options": [
"Card",
"Voucher"
]
},
"right": {
"label": "the other kind",
"options": [
"Cash",
"Refund"
]
},
"then": {
"label": "later, or at once",
"options": [
";",
":"
]
}
},
"answers": {
"0,0,0": {
"command": "cer run 'SELECT p, r WHERE (Card AS p OR Cash AS p) ; Refund AS r' payments.csv --order-by ts",
"names": [
"start",
"end",
"p",
"r"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 17
},
"0,0,1": {
"command": "cer run 'SELECT p, r WHERE (Card AS p OR Cash AS p) : Refund AS r' payments.csv --order-by ts",
"names": [
"start",
"end",
"p",
"r"
],
"rows": [
[
"4",
"5",
"4",
"5"
]
],
"picture": 18
},
"0,1,0": {
"command": "cer run 'SELECT p, r WHERE (Card AS p OR Refund AS p) ; Refund AS r' payments.csv --order-by ts",
"names": [
"start",
"end",
"p",
"r"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"3",
"5",
"3",
"5"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 19
},
"0,1,1": {
"command": "cer run 'SELECT p, r WHERE (Card AS p OR Refund AS p) : Refund AS r' payments.csv --order-by ts",
"names": [
"start",
"end",
"p",
"r"
],
"rows": [
[
"4",
"5",
"4",
"5"
]
],
"picture": 18
},
"1,0,0": {
"command": "cer run 'SELECT p, r WHERE (Voucher AS p OR Cash AS p) ; Refund AS r' payments.csv --order-by ts",
"names": [
"start",
"end",
"p",
"r"
],
"rows": [
[
"1",
"3",
"1",
"3"
],
[
"2",
"3",
"2",
"3"
],
[
"1",
"5",
"1",
"5"
],
[
"2",
"5",
"2",
"5"
]
],
"picture": 20
},
"1,0,1": {
"command": "cer run 'SELECT p, r WHERE (Voucher AS p OR Cash AS p) : Refund AS r' payments.csv --order-by ts",
"names": [
"start",
"end",
"p",
"r"
],
"rows": [
[
"2",
"3",
"2",
"3"
]
],
"picture": 21
},
"1,1,0": {
"command": "cer run 'SELECT p, r WHERE (Voucher AS p OR Refund AS p) ; Refund AS r' payments.csv --order-by ts",
"names": [
"start",
"end",
"p",
"r"
],
"rows": [
[
"2",
"3",
"2",
"3"
],
[
"2",
"5",
"2",
"5"
],
[
"3",
"5",
"3",
"5"
]
],
"picture": 22
},
"1,1,1": {
"command": "cer run 'SELECT p, r WHERE (Voucher AS p OR Refund AS p) : Refund AS r' payments.csv --order-by ts",
"names": [
"start",
"end",
"p",
"r"
],
"rows": [
[
"2",
"3",
"2",
"3"
]
],
"picture": 21
}
}
},
{
"key": "filter",
"title": "Filter",
"page": "language/filter.md",
"said": "A condition is about one event. The price of the news is missing, so no comparison with it holds.",
"stream": "trades.csv",
"query": [
"SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price ",
"side",
" 102] ",
"both",
" s[price > ",
"limit",
"]"
],
"params": {},
"places": {
"side": {
"label": "comparison of the purchase",
"options": [
"<",
">="
]
},
"both": {
"label": "both conditions, or one",
"options": [
"AND",
"OR"
]
},
"limit": {
"label": "price of the sale",
"options": [
"103",
"105",
"107"
]
}
},
"answers": {
"0,0,0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price < 102] AND s[price > 103]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 23
},
"0,0,1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price < 102] AND s[price > 105]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"5",
"0",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 24
},
"0,0,2": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price < 102] AND s[price > 107]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"6",
"0",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 25
},
"0,1,0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price < 102] OR s[price > 103]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 26
},
"0,1,1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price < 102] OR s[price > 105]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 27
},
"0,1,2": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price < 102] OR s[price > 107]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 28
},
"1,0,0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price >= 102] AND s[price > 103]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"1",
"3",
"1",
"3"
],
[
"1",
"5",
"1",
"5"
],
[
"1",
"6",
"1",
"6"
]
],
"picture": 29
},
"1,0,1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price >= 102] AND s[price > 105]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"1",
"5",
"1",
"5"
],
[
"1",
"6",
"1",
"6"
]
],
"picture": 30
},
"1,0,2": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price >= 102] AND s[price > 107]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"1",
"6",
"1",
"6"
]
],
"picture": 31
},
"1,1,0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price >= 102] OR s[price > 103]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 26
},
"1,1,1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price >= 102] OR s[price > 105]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 32
},
"1,1,2": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER b[price >= 102] OR s[price > 107]' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"1",
"3",
"1",
"3"
],
[
"1",
"5",
"1",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 33
}
}
},
{
"key": "comparison",
"title": "Comparisons between events",
"page": "language/comparisons.md",
"said": "Two trades; the price of the later one is above or below a multiple of the earlier price.",
"stream": "prices.csv",
"query": [
"SELECT x, y WHERE Trade AS x ",
"then",
" Trade AS y FILTER y.price ",
"side",
" ",
"times",
" * x.price"
],
"params": {},
"places": {
"then": {
"label": "later, or at once",
"options": [
";",
":"
]
},
"side": {
"label": "comparison",
"options": [
">=",
"<"
]
},
"times": {
"label": "factor",
"options": [
"1.05",
"1.02",
"1.08"
]
}
},
"answers": {
"0,0,0": {
"command": "cer run 'SELECT x, y WHERE Trade AS x ; Trade AS y FILTER y.price >= 1.05 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"2",
"3",
"2",
"3"
],
[
"2",
"4",
"2",
"4"
],
[
"0",
"5",
"0",
"5"
],
[
"2",
"5",
"2",
"5"
]
],
"picture": 34
},
"0,0,1": {
"command": "cer run 'SELECT x, y WHERE Trade AS x ; Trade AS y FILTER y.price >= 1.02 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"1",
"0",
"1"
],
[
"0",
"3",
"0",
"3"
],
[
"2",
"3",
"2",
"3"
],
[
"0",
"4",
"0",
"4"
],
[
"2",
"4",
"2",
"4"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"2",
"5",
"2",
"5"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 35
},
"0,0,2": {
"command": "cer run 'SELECT x, y WHERE Trade AS x ; Trade AS y FILTER y.price >= 1.08 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"2",
"3",
"2",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"2",
"5",
"2",
"5"
]
],
"picture": 36
},
"0,1,0": {
"command": "cer run 'SELECT x, y WHERE Trade AS x ; Trade AS y FILTER y.price < 1.05 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"1",
"0",
"1"
],
[
"0",
"2",
"0",
"2"
],
[
"1",
"2",
"1",
"2"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"4",
"0",
"4"
],
[
"1",
"4",
"1",
"4"
],
[
"3",
"4",
"3",
"4"
],
[
"1",
"5",
"1",
"5"
],
[
"3",
"5",
"3",
"5"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 37
},
"0,1,1": {
"command": "cer run 'SELECT x, y WHERE Trade AS x ; Trade AS y FILTER y.price < 1.02 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"2",
"0",
"2"
],
[
"1",
"2",
"1",
"2"
],
[
"1",
"3",
"1",
"3"
],
[
"1",
"4",
"1",
"4"
],
[
"3",
"4",
"3",
"4"
],
[
"3",
"5",
"3",
"5"
]
],
"picture": 38
},
"0,1,2": {
"command": "cer run 'SELECT x, y WHERE Trade AS x ; Trade AS y FILTER y.price < 1.08 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"1",
"0",
"1"
],
[
"0",
"2",
"0",
"2"
],
[
"1",
"2",
"1",
"2"
],
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"4",
"0",
"4"
],
[
"1",
"4",
"1",
"4"
],
[
"2",
"4",
"2",
"4"
],
[
"3",
"4",
"3",
"4"
],
[
"1",
"5",
"1",
"5"
],
[
"3",
"5",
"3",
"5"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 39
},
"1,0,0": {
"command": "cer run 'SELECT x, y WHERE Trade AS x : Trade AS y FILTER y.price >= 1.05 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"2",
"3",
"2",
"3"
]
],
"picture": 40
},
"1,0,1": {
"command": "cer run 'SELECT x, y WHERE Trade AS x : Trade AS y FILTER y.price >= 1.02 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"1",
"0",
"1"
],
[
"2",
"3",
"2",
"3"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 41
},
"1,0,2": {
"command": "cer run 'SELECT x, y WHERE Trade AS x : Trade AS y FILTER y.price >= 1.08 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"2",
"3",
"2",
"3"
]
],
"picture": 40
},
"1,1,0": {
"command": "cer run 'SELECT x, y WHERE Trade AS x : Trade AS y FILTER y.price < 1.05 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"1",
"0",
"1"
],
[
"1",
"2",
"1",
"2"
],
[
"3",
"4",
"3",
"4"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 42
},
"1,1,1": {
"command": "cer run 'SELECT x, y WHERE Trade AS x : Trade AS y FILTER y.price < 1.02 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"1",
"2",
"1",
"2"
],
[
"3",
"4",
"3",
"4"
]
],
"picture": 43
},
"1,1,2": {
"command": "cer run 'SELECT x, y WHERE Trade AS x : Trade AS y FILTER y.price < 1.08 * x.price' prices.csv --order-by ts",
"names": [
"start",
"end",
"x",
"y"
],
"rows": [
[
"0",
"1",
"0",
"1"
],
[
"1",
"2",
"1",
"2"
],
[
"3",
"4",
"3",
"4"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 42
}
}
},
{
"key": "within",
"title": "Window",
"page": "language/window.md",
"said": "The end may be at most this far from the start. The limit itself is included.",
"stream": "trades.csv",
"query": [
"SELECT b, s WHERE Buy AS b ; Sell AS s WITHIN ",
"window",
""
],
"params": {},
"places": {
"window": {
"label": "window",
"options": [
"30 SECONDS",
"1 MINUTE",
"2 MINUTES",
"2 EVENTS",
"4 EVENTS"
]
}
},
"answers": {
"0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s WITHIN 30 SECONDS' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 44
},
"1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s WITHIN 1 MINUTE' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 45
},
"2": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s WITHIN 2 MINUTES' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 26
},
"3": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s WITHIN 2 EVENTS' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"1",
"3",
"1",
"3"
],
[
"4",
"5",
"4",
"5"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 46
},
"4": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s WITHIN 4 EVENTS' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 47
}
}
},
{
"key": "gap",
"title": "Time between steps",
"page": "language/time-between.md",
"said": "Brackets bound the time from one step to the next.",
"stream": "shop.csv",
"query": [
"SELECT v, c, b WHERE View AS v ;[<= ",
"first",
"] Cart AS c ;[",
"second",
"] Buy AS b ",
"apart",
""
],
"params": {},
"places": {
"first": {
"label": "most time from view to cart",
"options": [
"10 min",
"5 min",
"1 h"
]
},
"second": {
"label": "time from cart to purchase",
"options": [
"<= 20 min",
"> 20 min",
"15 min, 30 min"
]
},
"apart": {
"label": "partition",
"options": [
"",
"PARTITION BY user"
]
}
},
"answers": {
"0,0,0": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 10 min] Cart AS c ;[<= 20 min] Buy AS b' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
],
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 48
},
"0,0,1": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 10 min] Cart AS c ;[<= 20 min] Buy AS b PARTITION BY user' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b",
"user"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4",
"ann"
]
],
"picture": 49
},
"0,1,0": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 10 min] Cart AS c ;[> 20 min] Buy AS b' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b"
],
"rows": [
[
"0",
"5",
"0",
"1",
"5"
],
[
"2",
"5",
"2",
"3",
"5"
]
],
"picture": 50
},
"0,1,1": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 10 min] Cart AS c ;[> 20 min] Buy AS b PARTITION BY user' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b",
"user"
],
"rows": [
[
"2",
"5",
"2",
"3",
"5",
"bob"
]
],
"picture": 51
},
"0,2,0": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 10 min] Cart AS c ;[15 min, 30 min] Buy AS b' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
],
[
"2",
"5",
"2",
"3",
"5"
]
],
"picture": 52
},
"0,2,1": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 10 min] Cart AS c ;[15 min, 30 min] Buy AS b PARTITION BY user' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b",
"user"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4",
"ann"
],
[
"2",
"5",
"2",
"3",
"5",
"bob"
]
],
"picture": 53
},
"1,0,0": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 5 min] Cart AS c ;[<= 20 min] Buy AS b' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b"
],
"rows": [
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 54
},
"1,0,1": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 5 min] Cart AS c ;[<= 20 min] Buy AS b PARTITION BY user' shop.csv --order-by ts",
"names": [
"start",
"end"
],
"rows": [],
"picture": 55
},
"1,1,0": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 5 min] Cart AS c ;[> 20 min] Buy AS b' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b"
],
"rows": [
[
"2",
"5",
"2",
"3",
"5"
]
],
"picture": 56
},
"1,1,1": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 5 min] Cart AS c ;[> 20 min] Buy AS b PARTITION BY user' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b",
"user"
],
"rows": [
[
"2",
"5",
"2",
"3",
"5",
"bob"
]
],
"picture": 51
},
"1,2,0": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 5 min] Cart AS c ;[15 min, 30 min] Buy AS b' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b"
],
"rows": [
[
"2",
"5",
"2",
"3",
"5"
]
],
"picture": 56
},
"1,2,1": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 5 min] Cart AS c ;[15 min, 30 min] Buy AS b PARTITION BY user' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b",
"user"
],
"rows": [
[
"2",
"5",
"2",
"3",
"5",
"bob"
]
],
"picture": 51
},
"2,0,0": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 1 h] Cart AS c ;[<= 20 min] Buy AS b' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
],
[
"0",
"4",
"0",
"3",
"4"
],
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 57
},
"2,0,1": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 1 h] Cart AS c ;[<= 20 min] Buy AS b PARTITION BY user' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b",
"user"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4",
"ann"
]
],
"picture": 49
},
"2,1,0": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 1 h] Cart AS c ;[> 20 min] Buy AS b' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b"
],
"rows": [
[
"0",
"5",
"0",
"1",
"5"
],
[
"0",
"5",
"0",
"3",
"5"
],
[
"2",
"5",
"2",
"3",
"5"
]
],
"picture": 58
},
"2,1,1": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 1 h] Cart AS c ;[> 20 min] Buy AS b PARTITION BY user' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b",
"user"
],
"rows": [
[
"2",
"5",
"2",
"3",
"5",
"bob"
]
],
"picture": 51
},
"2,2,0": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 1 h] Cart AS c ;[15 min, 30 min] Buy AS b' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
],
[
"0",
"5",
"0",
"3",
"5"
],
[
"2",
"5",
"2",
"3",
"5"
]
],
"picture": 59
},
"2,2,1": {
"command": "cer run 'SELECT v, c, b WHERE View AS v ;[<= 1 h] Cart AS c ;[15 min, 30 min] Buy AS b PARTITION BY user' shop.csv --order-by ts",
"names": [
"start",
"end",
"v",
"c",
"b",
"user"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4",
"ann"
],
[
"2",
"5",
"2",
"3",
"5",
"bob"
]
],
"picture": 53
}
}
},
{
"key": "partition",
"title": "Partition",
"page": "language/partition.md",
"said": "With PARTITION BY, each symbol is matched separately, so other symbols do not come between.",
"stream": "trades.csv",
"query": [
"SELECT b, s WHERE Buy AS b ",
"then",
" Sell AS s ",
"apart",
""
],
"params": {},
"places": {
"then": {
"label": "later, or at once",
"options": [
";",
":"
]
},
"apart": {
"label": "partition",
"options": [
"",
"PARTITION BY symbol"
]
}
},
"answers": {
"0,0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 26
},
"0,1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s PARTITION BY symbol' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s",
"symbol"
],
"rows": [
[
"0",
"3",
"0",
"3",
"ACME"
],
[
"1",
"5",
"1",
"5",
"BOLT"
],
[
"0",
"6",
"0",
"6",
"ACME"
],
[
"4",
"6",
"4",
"6",
"ACME"
]
],
"picture": 60
},
"1,0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b : Sell AS s' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"4",
"5",
"4",
"5"
]
],
"picture": 61
},
"1,1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b : Sell AS s PARTITION BY symbol' trades.csv --order-by ts",
"names": [
"start",
"end",
"b",
"s",
"symbol"
],
"rows": [
[
"1",
"5",
"1",
"5",
"BOLT"
],
[
"4",
"6",
"4",
"6",
"ACME"
]
],
"picture": 62
}
}
},
{
"key": "unless",
"title": "Without",
"page": "language/unless.md",
"said": "An order and a payment, unless something else happens between them.",
"stream": "orders.csv",
"query": [
"SELECT o, p WHERE (Order AS o ; Pay AS p) UNLESS (",
"what",
")"
],
"params": {},
"places": {
"what": {
"label": "what must not happen",
"options": [
"Change AS c FILTER c[by >= 5]",
"Change",
"Change ; Ship",
"Pay ; Pay"
]
}
},
"answers": {
"0": {
"command": "cer run 'SELECT o, p WHERE (Order AS o ; Pay AS p) UNLESS (Change AS c FILTER c[by >= 5])' orders.csv --order-by ts",
"names": [
"start",
"end",
"o",
"p"
],
"rows": [
[
"0",
"2",
"0",
"2"
]
],
"picture": 63
},
"1": {
"command": "cer run 'SELECT o, p WHERE (Order AS o ; Pay AS p) UNLESS (Change)' orders.csv --order-by ts",
"names": [
"start",
"end"
],
"rows": [],
"picture": 64
},
"2": {
"command": "cer run 'SELECT o, p WHERE (Order AS o ; Pay AS p) UNLESS (Change ; Ship)' orders.csv --order-by ts",
"names": [
"start",
"end",
"o",
"p"
],
"rows": [
[
"0",
"2",
"0",
"2"
],
[
"0",
"5",
"0",
"5"
],
[
"3",
"5",
"3",
"5"
]
],
"picture": 65
},
"3": {
"command": "cer run 'SELECT o, p WHERE (Order AS o ; Pay AS p) UNLESS (Pay ; Pay)' orders.csv --order-by ts",
"names": [
"start",
"end",
"o",
"p"
],
"rows": [
[
"0",
"2",
"0",
"2"
],
[
"3",
"5",
"3",
"5"
]
],
"picture": 66
}
}
},
{
"key": "followed-by",
"title": "What comes after",
"page": "language/followed-by.md",
"said": "A log-on, if the user does or does not log off within this time. The match ends at the log-on.",
"stream": "sessions.csv",
"query": [
"SELECT l WHERE Logon AS l ",
"comes",
" [<= ",
"span",
"] Logoff PARTITION BY user"
],
"params": {},
"places": {
"comes": {
"label": "comes, or does not",
"options": [
"FOLLOWED BY",
"NOT FOLLOWED BY"
]
},
"span": {
"label": "within",
"options": [
"8 h",
"4 h",
"9 h"
]
}
},
"answers": {
"0,0": {
"command": "cer run 'SELECT l WHERE Logon AS l FOLLOWED BY [<= 8 h] Logoff PARTITION BY user' sessions.csv --order-by ts",
"names": [
"start",
"end",
"l",
"user"
],
"rows": [
[
"0",
"0",
"0",
"ann"
],
[
"3",
"3",
"3",
"ann"
]
],
"picture": 67
},
"0,1": {
"command": "cer run 'SELECT l WHERE Logon AS l FOLLOWED BY [<= 4 h] Logoff PARTITION BY user' sessions.csv --order-by ts",
"names": [
"start",
"end",
"l",
"user"
],
"rows": [
[
"0",
"0",
"0",
"ann"
]
],
"picture": 68
},
"0,2": {
"command": "cer run 'SELECT l WHERE Logon AS l FOLLOWED BY [<= 9 h] Logoff PARTITION BY user' sessions.csv --order-by ts",
"names": [
"start",
"end",
"l",
"user"
],
"rows": [
[
"0",
"0",
"0",
"ann"
],
[
"1",
"1",
"1",
"bob"
],
[
"3",
"3",
"3",
"ann"
]
],
"picture": 69
},
"1,0": {
"command": "cer run 'SELECT l WHERE Logon AS l NOT FOLLOWED BY [<= 8 h] Logoff PARTITION BY user' sessions.csv --order-by ts",
"names": [
"start",
"end",
"l",
"user"
],
"rows": [
[
"1",
"1",
"1",
"bob"
],
[
"6",
"6",
"6",
"bob"
]
],
"picture": 70
},
"1,1": {
"command": "cer run 'SELECT l WHERE Logon AS l NOT FOLLOWED BY [<= 4 h] Logoff PARTITION BY user' sessions.csv --order-by ts",
"names": [
"start",
"end",
"l",
"user"
],
"rows": [
[
"1",
"1",
"1",
"bob"
],
[
"3",
"3",
"3",
"ann"
],
[
"6",
"6",
"6",
"bob"
]
],
"picture": 71
},
"1,2": {
"command": "cer run 'SELECT l WHERE Logon AS l NOT FOLLOWED BY [<= 9 h] Logoff PARTITION BY user' sessions.csv --order-by ts",
"names": [
"start",
"end",
"l",
"user"
],
"rows": [
[
"6",
"6",
"6",
"bob"
]
],
"picture": 72
}
}
},
{
"key": "strategies",
"title": "Strategies",
"page": "language/strategies.md",
"said": "A strategy keeps some of the matches with the same end. Here, C is the only end.",
"stream": "steps.csv",
"query": [
"SELECT ",
"kept",
" a, b, c WHERE ",
"first",
" AS a ; ",
"second",
" AS b ; C AS c"
],
"params": {},
"places": {
"kept": {
"label": "strategy",
"options": [
"ALL",
"NEXT",
"LAST",
"MAX",
"STRICT"
]
},
"first": {
"label": "one A or more",
"options": [
"A",
"A +"
]
},
"second": {
"label": "one B or more",
"options": [
"B",
"B +"
]
}
},
"answers": {
"0,0,0": {
"command": "cer run 'SELECT ALL a, b, c WHERE A AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
],
[
"0",
"4",
"0",
"3",
"4"
],
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 73
},
"0,0,1": {
"command": "cer run 'SELECT ALL a, b, c WHERE A AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1, 3",
"4"
],
[
"0",
"4",
"0",
"1",
"4"
],
[
"0",
"4",
"0",
"3",
"4"
],
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 74
},
"0,1,0": {
"command": "cer run 'SELECT ALL a, b, c WHERE A + AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
],
[
"0",
"4",
"0, 2",
"3",
"4"
],
[
"0",
"4",
"0",
"3",
"4"
],
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 75
},
"0,1,1": {
"command": "cer run 'SELECT ALL a, b, c WHERE A + AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1, 3",
"4"
],
[
"0",
"4",
"0",
"1",
"4"
],
[
"0",
"4",
"0, 2",
"3",
"4"
],
[
"0",
"4",
"0",
"3",
"4"
],
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 76
},
"1,0,0": {
"command": "cer run 'SELECT NEXT a, b, c WHERE A AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
]
],
"picture": 77
},
"1,0,1": {
"command": "cer run 'SELECT NEXT a, b, c WHERE A AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1, 3",
"4"
]
],
"picture": 78
},
"1,1,0": {
"command": "cer run 'SELECT NEXT a, b, c WHERE A + AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
]
],
"picture": 77
},
"1,1,1": {
"command": "cer run 'SELECT NEXT a, b, c WHERE A + AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1, 3",
"4"
]
],
"picture": 78
},
"2,0,0": {
"command": "cer run 'SELECT LAST a, b, c WHERE A AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 79
},
"2,0,1": {
"command": "cer run 'SELECT LAST a, b, c WHERE A AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 79
},
"2,1,0": {
"command": "cer run 'SELECT LAST a, b, c WHERE A + AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0, 2",
"3",
"4"
]
],
"picture": 80
},
"2,1,1": {
"command": "cer run 'SELECT LAST a, b, c WHERE A + AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0, 2",
"3",
"4"
]
],
"picture": 80
},
"3,0,0": {
"command": "cer run 'SELECT MAX a, b, c WHERE A AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
],
[
"0",
"4",
"0",
"3",
"4"
],
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 73
},
"3,0,1": {
"command": "cer run 'SELECT MAX a, b, c WHERE A AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1, 3",
"4"
],
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 81
},
"3,1,0": {
"command": "cer run 'SELECT MAX a, b, c WHERE A + AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1",
"4"
],
[
"0",
"4",
"0, 2",
"3",
"4"
]
],
"picture": 82
},
"3,1,1": {
"command": "cer run 'SELECT MAX a, b, c WHERE A + AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"0",
"4",
"0",
"1, 3",
"4"
],
[
"0",
"4",
"0, 2",
"3",
"4"
]
],
"picture": 83
},
"4,0,0": {
"command": "cer run 'SELECT STRICT a, b, c WHERE A AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 79
},
"4,0,1": {
"command": "cer run 'SELECT STRICT a, b, c WHERE A AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 79
},
"4,1,0": {
"command": "cer run 'SELECT STRICT a, b, c WHERE A + AS a ; B AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 79
},
"4,1,1": {
"command": "cer run 'SELECT STRICT a, b, c WHERE A + AS a ; B + AS b ; C AS c' steps.csv --order-by ts",
"names": [
"start",
"end",
"a",
"b",
"c"
],
"rows": [
[
"2",
"4",
"2",
"3",
"4"
]
],
"picture": 79
}
}
},
{
"key": "prior",
"title": "The previous repetition",
"page": "language/prior.md",
"said": "Each trade is compared with the trade of the previous repetition.",
"stream": "prices.csv",
"query": [
"SELECT x WHERE (Trade AS x FILTER x.price ",
"side",
" PRIOR(x).price) ",
"times",
""
],
"params": {},
"places": {
"side": {
"label": "comparison with the one before",
"options": [
">",
"<"
]
},
"times": {
"label": "how often",
"options": [
"{3}",
"{2}",
"{4}",
":{2}"
]
}
},
"answers": {
"0,0": {
"command": "cer run 'SELECT x WHERE (Trade AS x FILTER x.price > PRIOR(x).price) {3}' prices.csv --order-by ts",
"names": [
"start",
"end",
"x"
],
"rows": [
[
"0",
"3",
"0, 1, 3"
],
[
"0",
"5",
"0, 1, 5"
],
[
"0",
"5",
"0, 3, 5"
],
[
"0",
"5",
"0, 4, 5"
],
[
"1",
"5",
"1, 3, 5"
],
[
"2",
"5",
"2, 3, 5"
],
[
"2",
"5",
"2, 4, 5"
]
],
"picture": 84
},
"0,1": {
"command": "cer run 'SELECT x WHERE (Trade AS x FILTER x.price > PRIOR(x).price) {2}' prices.csv --order-by ts",
"names": [
"start",
"end",
"x"
],
"rows": [
[
"0",
"1",
"0, 1"
],
[
"0",
"3",
"0, 3"
],
[
"1",
"3",
"1, 3"
],
[
"2",
"3",
"2, 3"
],
[
"0",
"4",
"0, 4"
],
[
"2",
"4",
"2, 4"
],
[
"0",
"5",
"0, 5"
],
[
"1",
"5",
"1, 5"
],
[
"2",
"5",
"2, 5"
],
[
"3",
"5",
"3, 5"
],
[
"4",
"5",
"4, 5"
]
],
"picture": 85
},
"0,2": {
"command": "cer run 'SELECT x WHERE (Trade AS x FILTER x.price > PRIOR(x).price) {4}' prices.csv --order-by ts",
"names": [
"start",
"end",
"x"
],
"rows": [
[
"0",
"5",
"0, 1, 3, 5"
]
],
"picture": 86
},
"0,3": {
"command": "cer run 'SELECT x WHERE (Trade AS x FILTER x.price > PRIOR(x).price) :{2}' prices.csv --order-by ts",
"names": [
"start",
"end",
"x"
],
"rows": [
[
"0",
"1",
"0, 1"
],
[
"2",
"3",
"2, 3"
],
[
"4",
"5",
"4, 5"
]
],
"picture": 87
},
"1,0": {
"command": "cer run 'SELECT x WHERE (Trade AS x FILTER x.price < PRIOR(x).price) {3}' prices.csv --order-by ts",
"names": [
"start",
"end"
],
"rows": [],
"picture": 88
},
"1,1": {
"command": "cer run 'SELECT x WHERE (Trade AS x FILTER x.price < PRIOR(x).price) {2}' prices.csv --order-by ts",
"names": [
"start",
"end",
"x"
],
"rows": [
[
"0",
"2",
"0, 2"
],
[
"1",
"2",
"1, 2"
],
[
"1",
"4",
"1, 4"
],
[
"3",
"4",
"3, 4"
]
],
"picture": 89
},
"1,2": {
"command": "cer run 'SELECT x WHERE (Trade AS x FILTER x.price < PRIOR(x).price) {4}' prices.csv --order-by ts",
"names": [
"start",
"end"
],
"rows": [],
"picture": 88
},
"1,3": {
"command": "cer run 'SELECT x WHERE (Trade AS x FILTER x.price < PRIOR(x).price) :{2}' prices.csv --order-by ts",
"names": [
"start",
"end",
"x"
],
"rows": [
[
"1",
"2",
"1, 2"
],
[
"3",
"4",
"3, 4"
]
],
"picture": 90
}
}
},
{
"key": "parameters",
"title": "Parameters",
"page": "language/parameters.md",
"said": "The query stays the same; you pass the values with the call.",
"stream": "trades.csv",
"query": [
"SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span"
],
"params": {
"limit": [
"",
"limit",
""
],
"span": [
"",
"span",
""
]
},
"places": {
"limit": {
"label": "value of limit",
"options": [
"103",
"105",
"107"
]
},
"span": {
"label": "value of span",
"options": [
"30 s",
"1 min",
"2 min"
]
}
},
"answers": {
"0,0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span' trades.csv --order-by ts --param limit=103 --param 'span=30 s'",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"4",
"5",
"4",
"5"
]
],
"picture": 44
},
"0,1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span' trades.csv --order-by ts --param limit=103 --param 'span=1 min'",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 45
},
"0,2": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span' trades.csv --order-by ts --param limit=103 --param 'span=2 min'",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"3",
"0",
"3"
],
[
"1",
"3",
"1",
"3"
],
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 26
},
"1,0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span' trades.csv --order-by ts --param limit=105 --param 'span=30 s'",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"4",
"5",
"4",
"5"
]
],
"picture": 61
},
"1,1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span' trades.csv --order-by ts --param limit=105 --param 'span=1 min'",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 91
},
"1,2": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span' trades.csv --order-by ts --param limit=105 --param 'span=2 min'",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"5",
"0",
"5"
],
[
"1",
"5",
"1",
"5"
],
[
"4",
"5",
"4",
"5"
],
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 92
},
"2,0": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span' trades.csv --order-by ts --param limit=107 --param 'span=30 s'",
"names": [
"start",
"end"
],
"rows": [],
"picture": 93
},
"2,1": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span' trades.csv --order-by ts --param limit=107 --param 'span=1 min'",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"4",
"6",
"4",
"6"
]
],
"picture": 94
},
"2,2": {
"command": "cer run 'SELECT b, s WHERE Buy AS b ; Sell AS s FILTER s[price > $limit] WITHIN $span' trades.csv --order-by ts --param limit=107 --param 'span=2 min'",
"names": [
"start",
"end",
"b",
"s"
],
"rows": [
[
"0",
"6",
"0",
"6"
],
[
"1",
"6",
"1",
"6"
],
[
"4",
"6",
"4",
"6"
]
],
"picture": 95
}
}
}
],
"pictures": [
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"378\" viewBox=\"0 0 476 378\" role=\"img\"><title>8 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">x</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">y</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"238.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">x</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"164\" r=\"5\"/>\n<text x=\"238.0\" y=\"156\">y</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"194\" r=\"5\"/>\n<text x=\"34.0\" y=\"186\">x</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">y</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"224\" r=\"5\"/>\n<text x=\"102.0\" y=\"216\">x</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"224\" r=\"5\"/>\n<text x=\"374.0\" y=\"216\">y</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"254\" r=\"5\"/>\n<text x=\"306.0\" y=\"246\">x</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"254\" r=\"5\"/>\n<text x=\"374.0\" y=\"246\">y</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"284\" y2=\"284\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"284\" r=\"5\"/>\n<text x=\"34.0\" y=\"276\">x</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"284\" r=\"5\"/>\n<text x=\"442.0\" y=\"276\">y</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"314\" y2=\"314\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"314\" r=\"5\"/>\n<text x=\"102.0\" y=\"306\">x</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"314\" r=\"5\"/>\n<text x=\"442.0\" y=\"306\">y</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"344\" y2=\"344\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"344\" r=\"5\"/>\n<text x=\"306.0\" y=\"336\">x</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"344\" r=\"5\"/>\n<text x=\"442.0\" y=\"336\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"366\">8 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"228\" viewBox=\"0 0 476 228\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"102.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">x</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"134\" r=\"5\"/>\n<text x=\"102.0\" y=\"126\">y</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"164\" r=\"5\"/>\n<text x=\"34.0\" y=\"156\">x</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"164\" r=\"5\"/>\n<text x=\"306.0\" y=\"156\">y</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"306.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"194\" r=\"5\"/>\n<text x=\"102.0\" y=\"186\">x</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"194\" r=\"5\"/>\n<text x=\"306.0\" y=\"186\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"216\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"228\" viewBox=\"0 0 476 228\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"134\" r=\"5\"/>\n<text x=\"170.0\" y=\"126\">x</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">y</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"164\" r=\"5\"/>\n<text x=\"170.0\" y=\"156\">x</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">y</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"442.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"194\" r=\"5\"/>\n<text x=\"170.0\" y=\"186\">x</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"194\" r=\"5\"/>\n<text x=\"442.0\" y=\"186\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"216\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"168\" viewBox=\"0 0 476 168\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"306.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"134\" r=\"5\"/>\n<text x=\"170.0\" y=\"126\">x</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"134\" r=\"5\"/>\n<text x=\"306.0\" y=\"126\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"156\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"228\" viewBox=\"0 0 476 228\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"238.0\" x2=\"374.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">x</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"134\" r=\"5\"/>\n<text x=\"374.0\" y=\"126\">y</text>\n<line class=\"bar\" x1=\"238.0\" x2=\"442.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"238.0\" cy=\"164\" r=\"5\"/>\n<text x=\"238.0\" y=\"156\">x</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"164\" r=\"5\"/>\n<text x=\"442.0\" y=\"156\">y</text>\n<line class=\"bar\" x1=\"374.0\" x2=\"442.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">x</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"194\" r=\"5\"/>\n<text x=\"442.0\" y=\"186\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"216\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"168\" viewBox=\"0 0 476 168\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"238.0\" x2=\"306.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">x</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"134\" r=\"5\"/>\n<text x=\"306.0\" y=\"126\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"156\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"152\" viewBox=\"0 0 476 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Login</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Reset</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Login</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">08:00:05</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">08:00:10</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">08:01</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">08:01:30</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">08:02</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">08:02:20</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"170.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">f</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"118\" r=\"5\"/>\n<text x=\"102.0\" y=\"110\">g</text>\n<circle class=\"dot\" cx=\"170.0\" cy=\"118\" r=\"5\"/>\n<text x=\"170.0\" y=\"110\">l</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"182\" viewBox=\"0 0 476 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Login</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Reset</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Login</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">08:00:05</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">08:00:10</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">08:01</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">08:01:30</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">08:02</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">08:02:20</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"170.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">f</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"118\" r=\"5\"/>\n<text x=\"102.0\" y=\"110\">g</text>\n<circle class=\"dot\" cx=\"170.0\" cy=\"118\" r=\"5\"/>\n<text x=\"170.0\" y=\"110\">l</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"148\" r=\"5\"/>\n<text x=\"34.0\" y=\"140\">f</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"148\" r=\"5\"/>\n<text x=\"102.0\" y=\"140\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"148\" r=\"5\"/>\n<text x=\"442.0\" y=\"140\">l</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"242\" viewBox=\"0 0 476 242\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Login</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Reset</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Login</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">08:00:05</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">08:00:10</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">08:01</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">08:01:30</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">08:02</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">08:02:20</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"170.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">f</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"118\" r=\"5\"/>\n<text x=\"102.0\" y=\"110\">g</text>\n<circle class=\"dot\" cx=\"170.0\" cy=\"118\" r=\"5\"/>\n<text x=\"170.0\" y=\"110\">l</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"148\" r=\"5\"/>\n<text x=\"34.0\" y=\"140\">f</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"148\" r=\"5\"/>\n<text x=\"374.0\" y=\"140\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"148\" r=\"5\"/>\n<text x=\"442.0\" y=\"140\">l</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"178\" r=\"5\"/>\n<text x=\"102.0\" y=\"170\">f</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"178\" r=\"5\"/>\n<text x=\"374.0\" y=\"170\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"178\" r=\"5\"/>\n<text x=\"442.0\" y=\"170\">l</text>\n<line class=\"bar\" x1=\"238.0\" x2=\"442.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"238.0\" cy=\"208\" r=\"5\"/>\n<text x=\"238.0\" y=\"200\">f</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"208\" r=\"5\"/>\n<text x=\"374.0\" y=\"200\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"208\" r=\"5\"/>\n<text x=\"442.0\" y=\"200\">l</text>\n<text class=\"faint left\" x=\"8\" y=\"230\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"332\" viewBox=\"0 0 476 332\" role=\"img\"><title>7 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Login</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Reset</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Failed</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Login</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">h1</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">h2</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">08:00:05</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">08:00:10</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">08:01</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">08:01:30</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">08:02</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">08:02:20</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"170.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">f</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"118\" r=\"5\"/>\n<text x=\"102.0\" y=\"110\">g</text>\n<circle class=\"dot\" cx=\"170.0\" cy=\"118\" r=\"5\"/>\n<text x=\"170.0\" y=\"110\">l</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"148\" r=\"5\"/>\n<text x=\"34.0\" y=\"140\">f</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"148\" r=\"5\"/>\n<text x=\"102.0\" y=\"140\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"148\" r=\"5\"/>\n<text x=\"442.0\" y=\"140\">l</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"178\" r=\"5\"/>\n<text x=\"34.0\" y=\"170\">f</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"178\" r=\"5\"/>\n<text x=\"238.0\" y=\"170\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"178\" r=\"5\"/>\n<text x=\"442.0\" y=\"170\">l</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"208\" r=\"5\"/>\n<text x=\"34.0\" y=\"200\">f</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"208\" r=\"5\"/>\n<text x=\"374.0\" y=\"200\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"208\" r=\"5\"/>\n<text x=\"442.0\" y=\"200\">l</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"238\" r=\"5\"/>\n<text x=\"102.0\" y=\"230\">f</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"238\" r=\"5\"/>\n<text x=\"238.0\" y=\"230\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"238\" r=\"5\"/>\n<text x=\"442.0\" y=\"230\">l</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"268\" y2=\"268\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"268\" r=\"5\"/>\n<text x=\"102.0\" y=\"260\">f</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"268\" r=\"5\"/>\n<text x=\"374.0\" y=\"260\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"268\" r=\"5\"/>\n<text x=\"442.0\" y=\"260\">l</text>\n<line class=\"bar\" x1=\"238.0\" x2=\"442.0\" y1=\"298\" y2=\"298\"/>\n<circle class=\"dot\" cx=\"238.0\" cy=\"298\" r=\"5\"/>\n<text x=\"238.0\" y=\"290\">f</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"298\" r=\"5\"/>\n<text x=\"374.0\" y=\"290\">g</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"298\" r=\"5\"/>\n<text x=\"442.0\" y=\"290\">l</text>\n<text class=\"faint left\" x=\"8\" y=\"320\">7 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"332\" viewBox=\"0 0 340 332\" role=\"img\"><title>7 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Scroll</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Leave</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">home</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">item</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">-</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"148\" r=\"5\"/>\n<text x=\"34.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"148\" r=\"5\"/>\n<text x=\"102.0\" y=\"140\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"178\" r=\"5\"/>\n<text x=\"34.0\" y=\"170\">c</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"178\" r=\"5\"/>\n<text x=\"102.0\" y=\"170\">c</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"178\" r=\"5\"/>\n<text x=\"238.0\" y=\"170\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"208\" r=\"5\"/>\n<text x=\"34.0\" y=\"200\">c</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"208\" r=\"5\"/>\n<text x=\"238.0\" y=\"200\">c</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"306.0\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"238\" r=\"5\"/>\n<text x=\"102.0\" y=\"230\">c</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"306.0\" y1=\"268\" y2=\"268\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"268\" r=\"5\"/>\n<text x=\"102.0\" y=\"260\">c</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"268\" r=\"5\"/>\n<text x=\"238.0\" y=\"260\">c</text>\n<line class=\"bar\" x1=\"238.0\" x2=\"306.0\" y1=\"298\" y2=\"298\"/>\n<circle class=\"dot\" cx=\"238.0\" cy=\"298\" r=\"5\"/>\n<text x=\"238.0\" y=\"290\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"320\">7 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"242\" viewBox=\"0 0 340 242\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Scroll</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Leave</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">home</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">item</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">-</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"148\" r=\"5\"/>\n<text x=\"34.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"148\" r=\"5\"/>\n<text x=\"102.0\" y=\"140\">c</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"306.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"178\" r=\"5\"/>\n<text x=\"102.0\" y=\"170\">c</text>\n<line class=\"bar\" x1=\"238.0\" x2=\"306.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"238.0\" cy=\"208\" r=\"5\"/>\n<text x=\"238.0\" y=\"200\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"230\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"212\" viewBox=\"0 0 340 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Scroll</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Leave</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">home</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">item</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">-</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"118\" r=\"5\"/>\n<text x=\"102.0\" y=\"110\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"148\" r=\"5\"/>\n<text x=\"34.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"148\" r=\"5\"/>\n<text x=\"238.0\" y=\"140\">c</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"306.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"178\" r=\"5\"/>\n<text x=\"102.0\" y=\"170\">c</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"178\" r=\"5\"/>\n<text x=\"238.0\" y=\"170\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"152\" viewBox=\"0 0 340 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Scroll</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Leave</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">home</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">item</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">-</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"118\" r=\"5\"/>\n<text x=\"102.0\" y=\"110\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"242\" viewBox=\"0 0 340 242\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Scroll</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Leave</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">home</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">item</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">-</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"118\" r=\"5\"/>\n<text x=\"102.0\" y=\"110\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"148\" r=\"5\"/>\n<text x=\"34.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"148\" r=\"5\"/>\n<text x=\"102.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"148\" r=\"5\"/>\n<text x=\"238.0\" y=\"140\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"178\" r=\"5\"/>\n<text x=\"34.0\" y=\"170\">c</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"178\" r=\"5\"/>\n<text x=\"238.0\" y=\"170\">c</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"306.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"208\" r=\"5\"/>\n<text x=\"102.0\" y=\"200\">c</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"208\" r=\"5\"/>\n<text x=\"238.0\" y=\"200\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"230\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"152\" viewBox=\"0 0 340 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Scroll</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Leave</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">home</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">item</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">-</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"118\" r=\"5\"/>\n<text x=\"102.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"118\" r=\"5\"/>\n<text x=\"238.0\" y=\"110\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"182\" viewBox=\"0 0 340 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">Scroll</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Click</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Leave</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">home</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">list</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">item</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">-</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"88\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"118\" r=\"5\"/>\n<text x=\"34.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"118\" r=\"5\"/>\n<text x=\"102.0\" y=\"110\">c</text>\n<line class=\"bar\" x1=\"238.0\" x2=\"306.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"238.0\" cy=\"148\" r=\"5\"/>\n<text x=\"238.0\" y=\"140\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"367\" height=\"272\" viewBox=\"0 0 367 272\" role=\"img\"><title>5 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"30.6\" y=\"22\">Card</text>\n<text class=\"type\" x=\"91.8\" y=\"22\">Cash</text>\n<text class=\"type\" x=\"153.0\" y=\"22\">Voucher</text>\n<text class=\"type\" x=\"214.2\" y=\"22\">Refund</text>\n<text class=\"type\" x=\"275.4\" y=\"22\">Card</text>\n<text class=\"type\" x=\"336.6\" y=\"22\">Refund</text>\n<text class=\"faint\" x=\"30.6\" y=\"38\">40</text>\n<text class=\"faint\" x=\"91.8\" y=\"38\">15</text>\n<text class=\"faint\" x=\"153.0\" y=\"38\">20</text>\n<text class=\"faint\" x=\"214.2\" y=\"38\">20</text>\n<text class=\"faint\" x=\"275.4\" y=\"38\">60</text>\n<text class=\"faint\" x=\"336.6\" y=\"38\">60</text>\n<text class=\"faint\" x=\"30.6\" y=\"54\">11:00</text>\n<text class=\"faint\" x=\"91.8\" y=\"54\">11:05</text>\n<text class=\"faint\" x=\"153.0\" y=\"54\">11:10</text>\n<text class=\"faint\" x=\"214.2\" y=\"54\">11:20</text>\n<text class=\"faint\" x=\"275.4\" y=\"54\">11:30</text>\n<text class=\"faint\" x=\"336.6\" y=\"54\">11:45</text>\n<line class=\"line\" x1=\"30.6\" x2=\"336.6\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"30.6\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"91.8\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"153.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"214.2\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"275.4\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"336.6\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"30.6\" y=\"88\">0</text>\n<text class=\"faint\" x=\"91.8\" y=\"88\">1</text>\n<text class=\"faint\" x=\"153.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"214.2\" y=\"88\">3</text>\n<text class=\"faint\" x=\"275.4\" y=\"88\">4</text>\n<text class=\"faint\" x=\"336.6\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"30.6\" x2=\"214.2\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"30.6\" cy=\"118\" r=\"5\"/>\n<text x=\"30.6\" y=\"110\">p</text>\n<circle class=\"dot\" cx=\"214.2\" cy=\"118\" r=\"5\"/>\n<text x=\"214.2\" y=\"110\">r</text>\n<line class=\"bar\" x1=\"91.8\" x2=\"214.2\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"91.8\" cy=\"148\" r=\"5\"/>\n<text x=\"91.8\" y=\"140\">p</text>\n<circle class=\"dot\" cx=\"214.2\" cy=\"148\" r=\"5\"/>\n<text x=\"214.2\" y=\"140\">r</text>\n<line class=\"bar\" x1=\"30.6\" x2=\"336.6\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"30.6\" cy=\"178\" r=\"5\"/>\n<text x=\"30.6\" y=\"170\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"178\" r=\"5\"/>\n<text x=\"336.6\" y=\"170\">r</text>\n<line class=\"bar\" x1=\"91.8\" x2=\"336.6\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"91.8\" cy=\"208\" r=\"5\"/>\n<text x=\"91.8\" y=\"200\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"208\" r=\"5\"/>\n<text x=\"336.6\" y=\"200\">r</text>\n<line class=\"bar\" x1=\"275.4\" x2=\"336.6\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"275.4\" cy=\"238\" r=\"5\"/>\n<text x=\"275.4\" y=\"230\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"238\" r=\"5\"/>\n<text x=\"336.6\" y=\"230\">r</text>\n<text class=\"faint left\" x=\"8\" y=\"260\">5 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"367\" height=\"152\" viewBox=\"0 0 367 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"30.6\" y=\"22\">Card</text>\n<text class=\"type\" x=\"91.8\" y=\"22\">Cash</text>\n<text class=\"type\" x=\"153.0\" y=\"22\">Voucher</text>\n<text class=\"type\" x=\"214.2\" y=\"22\">Refund</text>\n<text class=\"type\" x=\"275.4\" y=\"22\">Card</text>\n<text class=\"type\" x=\"336.6\" y=\"22\">Refund</text>\n<text class=\"faint\" x=\"30.6\" y=\"38\">40</text>\n<text class=\"faint\" x=\"91.8\" y=\"38\">15</text>\n<text class=\"faint\" x=\"153.0\" y=\"38\">20</text>\n<text class=\"faint\" x=\"214.2\" y=\"38\">20</text>\n<text class=\"faint\" x=\"275.4\" y=\"38\">60</text>\n<text class=\"faint\" x=\"336.6\" y=\"38\">60</text>\n<text class=\"faint\" x=\"30.6\" y=\"54\">11:00</text>\n<text class=\"faint\" x=\"91.8\" y=\"54\">11:05</text>\n<text class=\"faint\" x=\"153.0\" y=\"54\">11:10</text>\n<text class=\"faint\" x=\"214.2\" y=\"54\">11:20</text>\n<text class=\"faint\" x=\"275.4\" y=\"54\">11:30</text>\n<text class=\"faint\" x=\"336.6\" y=\"54\">11:45</text>\n<line class=\"line\" x1=\"30.6\" x2=\"336.6\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"30.6\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"91.8\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"153.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"214.2\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"275.4\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"336.6\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"30.6\" y=\"88\">0</text>\n<text class=\"faint\" x=\"91.8\" y=\"88\">1</text>\n<text class=\"faint\" x=\"153.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"214.2\" y=\"88\">3</text>\n<text class=\"faint\" x=\"275.4\" y=\"88\">4</text>\n<text class=\"faint\" x=\"336.6\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"275.4\" x2=\"336.6\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"275.4\" cy=\"118\" r=\"5\"/>\n<text x=\"275.4\" y=\"110\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"118\" r=\"5\"/>\n<text x=\"336.6\" y=\"110\">r</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"367\" height=\"242\" viewBox=\"0 0 367 242\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"30.6\" y=\"22\">Card</text>\n<text class=\"type\" x=\"91.8\" y=\"22\">Cash</text>\n<text class=\"type\" x=\"153.0\" y=\"22\">Voucher</text>\n<text class=\"type\" x=\"214.2\" y=\"22\">Refund</text>\n<text class=\"type\" x=\"275.4\" y=\"22\">Card</text>\n<text class=\"type\" x=\"336.6\" y=\"22\">Refund</text>\n<text class=\"faint\" x=\"30.6\" y=\"38\">40</text>\n<text class=\"faint\" x=\"91.8\" y=\"38\">15</text>\n<text class=\"faint\" x=\"153.0\" y=\"38\">20</text>\n<text class=\"faint\" x=\"214.2\" y=\"38\">20</text>\n<text class=\"faint\" x=\"275.4\" y=\"38\">60</text>\n<text class=\"faint\" x=\"336.6\" y=\"38\">60</text>\n<text class=\"faint\" x=\"30.6\" y=\"54\">11:00</text>\n<text class=\"faint\" x=\"91.8\" y=\"54\">11:05</text>\n<text class=\"faint\" x=\"153.0\" y=\"54\">11:10</text>\n<text class=\"faint\" x=\"214.2\" y=\"54\">11:20</text>\n<text class=\"faint\" x=\"275.4\" y=\"54\">11:30</text>\n<text class=\"faint\" x=\"336.6\" y=\"54\">11:45</text>\n<line class=\"line\" x1=\"30.6\" x2=\"336.6\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"30.6\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"91.8\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"153.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"214.2\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"275.4\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"336.6\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"30.6\" y=\"88\">0</text>\n<text class=\"faint\" x=\"91.8\" y=\"88\">1</text>\n<text class=\"faint\" x=\"153.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"214.2\" y=\"88\">3</text>\n<text class=\"faint\" x=\"275.4\" y=\"88\">4</text>\n<text class=\"faint\" x=\"336.6\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"30.6\" x2=\"214.2\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"30.6\" cy=\"118\" r=\"5\"/>\n<text x=\"30.6\" y=\"110\">p</text>\n<circle class=\"dot\" cx=\"214.2\" cy=\"118\" r=\"5\"/>\n<text x=\"214.2\" y=\"110\">r</text>\n<line class=\"bar\" x1=\"30.6\" x2=\"336.6\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"30.6\" cy=\"148\" r=\"5\"/>\n<text x=\"30.6\" y=\"140\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"148\" r=\"5\"/>\n<text x=\"336.6\" y=\"140\">r</text>\n<line class=\"bar\" x1=\"214.2\" x2=\"336.6\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"214.2\" cy=\"178\" r=\"5\"/>\n<text x=\"214.2\" y=\"170\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"178\" r=\"5\"/>\n<text x=\"336.6\" y=\"170\">r</text>\n<line class=\"bar\" x1=\"275.4\" x2=\"336.6\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"275.4\" cy=\"208\" r=\"5\"/>\n<text x=\"275.4\" y=\"200\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"208\" r=\"5\"/>\n<text x=\"336.6\" y=\"200\">r</text>\n<text class=\"faint left\" x=\"8\" y=\"230\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"367\" height=\"242\" viewBox=\"0 0 367 242\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"30.6\" y=\"22\">Card</text>\n<text class=\"type\" x=\"91.8\" y=\"22\">Cash</text>\n<text class=\"type\" x=\"153.0\" y=\"22\">Voucher</text>\n<text class=\"type\" x=\"214.2\" y=\"22\">Refund</text>\n<text class=\"type\" x=\"275.4\" y=\"22\">Card</text>\n<text class=\"type\" x=\"336.6\" y=\"22\">Refund</text>\n<text class=\"faint\" x=\"30.6\" y=\"38\">40</text>\n<text class=\"faint\" x=\"91.8\" y=\"38\">15</text>\n<text class=\"faint\" x=\"153.0\" y=\"38\">20</text>\n<text class=\"faint\" x=\"214.2\" y=\"38\">20</text>\n<text class=\"faint\" x=\"275.4\" y=\"38\">60</text>\n<text class=\"faint\" x=\"336.6\" y=\"38\">60</text>\n<text class=\"faint\" x=\"30.6\" y=\"54\">11:00</text>\n<text class=\"faint\" x=\"91.8\" y=\"54\">11:05</text>\n<text class=\"faint\" x=\"153.0\" y=\"54\">11:10</text>\n<text class=\"faint\" x=\"214.2\" y=\"54\">11:20</text>\n<text class=\"faint\" x=\"275.4\" y=\"54\">11:30</text>\n<text class=\"faint\" x=\"336.6\" y=\"54\">11:45</text>\n<line class=\"line\" x1=\"30.6\" x2=\"336.6\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"30.6\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"91.8\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"153.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"214.2\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"275.4\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"336.6\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"30.6\" y=\"88\">0</text>\n<text class=\"faint\" x=\"91.8\" y=\"88\">1</text>\n<text class=\"faint\" x=\"153.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"214.2\" y=\"88\">3</text>\n<text class=\"faint\" x=\"275.4\" y=\"88\">4</text>\n<text class=\"faint\" x=\"336.6\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"91.8\" x2=\"214.2\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"91.8\" cy=\"118\" r=\"5\"/>\n<text x=\"91.8\" y=\"110\">p</text>\n<circle class=\"dot\" cx=\"214.2\" cy=\"118\" r=\"5\"/>\n<text x=\"214.2\" y=\"110\">r</text>\n<line class=\"bar\" x1=\"153.0\" x2=\"214.2\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"153.0\" cy=\"148\" r=\"5\"/>\n<text x=\"153.0\" y=\"140\">p</text>\n<circle class=\"dot\" cx=\"214.2\" cy=\"148\" r=\"5\"/>\n<text x=\"214.2\" y=\"140\">r</text>\n<line class=\"bar\" x1=\"91.8\" x2=\"336.6\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"91.8\" cy=\"178\" r=\"5\"/>\n<text x=\"91.8\" y=\"170\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"178\" r=\"5\"/>\n<text x=\"336.6\" y=\"170\">r</text>\n<line class=\"bar\" x1=\"153.0\" x2=\"336.6\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"153.0\" cy=\"208\" r=\"5\"/>\n<text x=\"153.0\" y=\"200\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"208\" r=\"5\"/>\n<text x=\"336.6\" y=\"200\">r</text>\n<text class=\"faint left\" x=\"8\" y=\"230\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"367\" height=\"152\" viewBox=\"0 0 367 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"30.6\" y=\"22\">Card</text>\n<text class=\"type\" x=\"91.8\" y=\"22\">Cash</text>\n<text class=\"type\" x=\"153.0\" y=\"22\">Voucher</text>\n<text class=\"type\" x=\"214.2\" y=\"22\">Refund</text>\n<text class=\"type\" x=\"275.4\" y=\"22\">Card</text>\n<text class=\"type\" x=\"336.6\" y=\"22\">Refund</text>\n<text class=\"faint\" x=\"30.6\" y=\"38\">40</text>\n<text class=\"faint\" x=\"91.8\" y=\"38\">15</text>\n<text class=\"faint\" x=\"153.0\" y=\"38\">20</text>\n<text class=\"faint\" x=\"214.2\" y=\"38\">20</text>\n<text class=\"faint\" x=\"275.4\" y=\"38\">60</text>\n<text class=\"faint\" x=\"336.6\" y=\"38\">60</text>\n<text class=\"faint\" x=\"30.6\" y=\"54\">11:00</text>\n<text class=\"faint\" x=\"91.8\" y=\"54\">11:05</text>\n<text class=\"faint\" x=\"153.0\" y=\"54\">11:10</text>\n<text class=\"faint\" x=\"214.2\" y=\"54\">11:20</text>\n<text class=\"faint\" x=\"275.4\" y=\"54\">11:30</text>\n<text class=\"faint\" x=\"336.6\" y=\"54\">11:45</text>\n<line class=\"line\" x1=\"30.6\" x2=\"336.6\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"30.6\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"91.8\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"153.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"214.2\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"275.4\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"336.6\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"30.6\" y=\"88\">0</text>\n<text class=\"faint\" x=\"91.8\" y=\"88\">1</text>\n<text class=\"faint\" x=\"153.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"214.2\" y=\"88\">3</text>\n<text class=\"faint\" x=\"275.4\" y=\"88\">4</text>\n<text class=\"faint\" x=\"336.6\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"153.0\" x2=\"214.2\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"153.0\" cy=\"118\" r=\"5\"/>\n<text x=\"153.0\" y=\"110\">p</text>\n<circle class=\"dot\" cx=\"214.2\" cy=\"118\" r=\"5\"/>\n<text x=\"214.2\" y=\"110\">r</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"367\" height=\"212\" viewBox=\"0 0 367 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"30.6\" y=\"22\">Card</text>\n<text class=\"type\" x=\"91.8\" y=\"22\">Cash</text>\n<text class=\"type\" x=\"153.0\" y=\"22\">Voucher</text>\n<text class=\"type\" x=\"214.2\" y=\"22\">Refund</text>\n<text class=\"type\" x=\"275.4\" y=\"22\">Card</text>\n<text class=\"type\" x=\"336.6\" y=\"22\">Refund</text>\n<text class=\"faint\" x=\"30.6\" y=\"38\">40</text>\n<text class=\"faint\" x=\"91.8\" y=\"38\">15</text>\n<text class=\"faint\" x=\"153.0\" y=\"38\">20</text>\n<text class=\"faint\" x=\"214.2\" y=\"38\">20</text>\n<text class=\"faint\" x=\"275.4\" y=\"38\">60</text>\n<text class=\"faint\" x=\"336.6\" y=\"38\">60</text>\n<text class=\"faint\" x=\"30.6\" y=\"54\">11:00</text>\n<text class=\"faint\" x=\"91.8\" y=\"54\">11:05</text>\n<text class=\"faint\" x=\"153.0\" y=\"54\">11:10</text>\n<text class=\"faint\" x=\"214.2\" y=\"54\">11:20</text>\n<text class=\"faint\" x=\"275.4\" y=\"54\">11:30</text>\n<text class=\"faint\" x=\"336.6\" y=\"54\">11:45</text>\n<line class=\"line\" x1=\"30.6\" x2=\"336.6\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"30.6\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"91.8\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"153.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"214.2\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"275.4\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"336.6\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"30.6\" y=\"88\">0</text>\n<text class=\"faint\" x=\"91.8\" y=\"88\">1</text>\n<text class=\"faint\" x=\"153.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"214.2\" y=\"88\">3</text>\n<text class=\"faint\" x=\"275.4\" y=\"88\">4</text>\n<text class=\"faint\" x=\"336.6\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"153.0\" x2=\"214.2\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"153.0\" cy=\"118\" r=\"5\"/>\n<text x=\"153.0\" y=\"110\">p</text>\n<circle class=\"dot\" cx=\"214.2\" cy=\"118\" r=\"5\"/>\n<text x=\"214.2\" y=\"110\">r</text>\n<line class=\"bar\" x1=\"153.0\" x2=\"336.6\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"153.0\" cy=\"148\" r=\"5\"/>\n<text x=\"153.0\" y=\"140\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"148\" r=\"5\"/>\n<text x=\"336.6\" y=\"140\">r</text>\n<line class=\"bar\" x1=\"214.2\" x2=\"336.6\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"214.2\" cy=\"178\" r=\"5\"/>\n<text x=\"214.2\" y=\"170\">p</text>\n<circle class=\"dot\" cx=\"336.6\" cy=\"178\" r=\"5\"/>\n<text x=\"336.6\" y=\"170\">r</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"288\" viewBox=\"0 0 476 288\" role=\"img\"><title>5 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"164\" r=\"5\"/>\n<text x=\"34.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"194\" r=\"5\"/>\n<text x=\"306.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"224\" r=\"5\"/>\n<text x=\"34.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"224\" r=\"5\"/>\n<text x=\"442.0\" y=\"216\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"254\" r=\"5\"/>\n<text x=\"306.0\" y=\"246\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"254\" r=\"5\"/>\n<text x=\"442.0\" y=\"246\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"276\">5 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"258\" viewBox=\"0 0 476 258\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"134\" r=\"5\"/>\n<text x=\"374.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"164\" r=\"5\"/>\n<text x=\"306.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"194\" r=\"5\"/>\n<text x=\"34.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"194\" r=\"5\"/>\n<text x=\"442.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"224\" r=\"5\"/>\n<text x=\"306.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"224\" r=\"5\"/>\n<text x=\"442.0\" y=\"216\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"246\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"198\" viewBox=\"0 0 476 198\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"134\" r=\"5\"/>\n<text x=\"442.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"164\" r=\"5\"/>\n<text x=\"306.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"164\" r=\"5\"/>\n<text x=\"442.0\" y=\"156\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"186\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"378\" viewBox=\"0 0 476 378\" role=\"img\"><title>8 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"238.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"164\" r=\"5\"/>\n<text x=\"238.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"194\" r=\"5\"/>\n<text x=\"34.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"224\" r=\"5\"/>\n<text x=\"102.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"224\" r=\"5\"/>\n<text x=\"374.0\" y=\"216\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"254\" r=\"5\"/>\n<text x=\"306.0\" y=\"246\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"254\" r=\"5\"/>\n<text x=\"374.0\" y=\"246\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"284\" y2=\"284\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"284\" r=\"5\"/>\n<text x=\"34.0\" y=\"276\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"284\" r=\"5\"/>\n<text x=\"442.0\" y=\"276\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"314\" y2=\"314\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"314\" r=\"5\"/>\n<text x=\"102.0\" y=\"306\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"314\" r=\"5\"/>\n<text x=\"442.0\" y=\"306\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"344\" y2=\"344\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"344\" r=\"5\"/>\n<text x=\"306.0\" y=\"336\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"344\" r=\"5\"/>\n<text x=\"442.0\" y=\"336\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"366\">8 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"348\" viewBox=\"0 0 476 348\" role=\"img\"><title>7 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"164\" r=\"5\"/>\n<text x=\"34.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"194\" r=\"5\"/>\n<text x=\"102.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"224\" r=\"5\"/>\n<text x=\"306.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"224\" r=\"5\"/>\n<text x=\"374.0\" y=\"216\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"254\" r=\"5\"/>\n<text x=\"34.0\" y=\"246\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"254\" r=\"5\"/>\n<text x=\"442.0\" y=\"246\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"284\" y2=\"284\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"284\" r=\"5\"/>\n<text x=\"102.0\" y=\"276\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"284\" r=\"5\"/>\n<text x=\"442.0\" y=\"276\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"314\" y2=\"314\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"314\" r=\"5\"/>\n<text x=\"306.0\" y=\"306\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"314\" r=\"5\"/>\n<text x=\"442.0\" y=\"306\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"336\">7 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"318\" viewBox=\"0 0 476 318\" role=\"img\"><title>6 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"164\" r=\"5\"/>\n<text x=\"34.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"194\" r=\"5\"/>\n<text x=\"306.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"224\" r=\"5\"/>\n<text x=\"34.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"224\" r=\"5\"/>\n<text x=\"442.0\" y=\"216\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"254\" r=\"5\"/>\n<text x=\"102.0\" y=\"246\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"254\" r=\"5\"/>\n<text x=\"442.0\" y=\"246\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"284\" y2=\"284\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"284\" r=\"5\"/>\n<text x=\"306.0\" y=\"276\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"284\" r=\"5\"/>\n<text x=\"442.0\" y=\"276\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"306\">6 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"228\" viewBox=\"0 0 476 228\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"134\" r=\"5\"/>\n<text x=\"102.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"194\" r=\"5\"/>\n<text x=\"102.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"194\" r=\"5\"/>\n<text x=\"442.0\" y=\"186\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"216\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"198\" viewBox=\"0 0 476 198\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"134\" r=\"5\"/>\n<text x=\"102.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"134\" r=\"5\"/>\n<text x=\"374.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"164\" r=\"5\"/>\n<text x=\"442.0\" y=\"156\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"186\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"168\" viewBox=\"0 0 476 168\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"134\" r=\"5\"/>\n<text x=\"102.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"134\" r=\"5\"/>\n<text x=\"442.0\" y=\"126\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"156\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"348\" viewBox=\"0 0 476 348\" role=\"img\"><title>7 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"134\" r=\"5\"/>\n<text x=\"102.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"164\" r=\"5\"/>\n<text x=\"34.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"194\" r=\"5\"/>\n<text x=\"102.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"224\" r=\"5\"/>\n<text x=\"306.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"224\" r=\"5\"/>\n<text x=\"374.0\" y=\"216\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"254\" r=\"5\"/>\n<text x=\"34.0\" y=\"246\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"254\" r=\"5\"/>\n<text x=\"442.0\" y=\"246\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"284\" y2=\"284\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"284\" r=\"5\"/>\n<text x=\"102.0\" y=\"276\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"284\" r=\"5\"/>\n<text x=\"442.0\" y=\"276\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"314\" y2=\"314\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"314\" r=\"5\"/>\n<text x=\"306.0\" y=\"306\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"314\" r=\"5\"/>\n<text x=\"442.0\" y=\"306\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"336\">7 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"288\" viewBox=\"0 0 476 288\" role=\"img\"><title>5 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"134\" r=\"5\"/>\n<text x=\"102.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"194\" r=\"5\"/>\n<text x=\"34.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"194\" r=\"5\"/>\n<text x=\"442.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"224\" r=\"5\"/>\n<text x=\"102.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"224\" r=\"5\"/>\n<text x=\"442.0\" y=\"216\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"254\" r=\"5\"/>\n<text x=\"306.0\" y=\"246\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"254\" r=\"5\"/>\n<text x=\"442.0\" y=\"246\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"276\">5 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"272\" viewBox=\"0 0 336 272\" role=\"img\"><title>5 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"196.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"118\" r=\"5\"/>\n<text x=\"196.0\" y=\"110\">y</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"196.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">y</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"252.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"178\" r=\"5\"/>\n<text x=\"140.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"178\" r=\"5\"/>\n<text x=\"252.0\" y=\"170\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"208\" r=\"5\"/>\n<text x=\"28.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"208\" r=\"5\"/>\n<text x=\"308.0\" y=\"200\">y</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"238\" r=\"5\"/>\n<text x=\"140.0\" y=\"230\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"238\" r=\"5\"/>\n<text x=\"308.0\" y=\"230\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"260\">5 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"392\" viewBox=\"0 0 336 392\" role=\"img\"><title>9 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"84.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"196.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"148\" r=\"5\"/>\n<text x=\"28.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">y</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"196.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"178\" r=\"5\"/>\n<text x=\"140.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"178\" r=\"5\"/>\n<text x=\"196.0\" y=\"170\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"208\" r=\"5\"/>\n<text x=\"28.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"208\" r=\"5\"/>\n<text x=\"252.0\" y=\"200\">y</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"252.0\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"238\" r=\"5\"/>\n<text x=\"140.0\" y=\"230\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"238\" r=\"5\"/>\n<text x=\"252.0\" y=\"230\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"268\" y2=\"268\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"268\" r=\"5\"/>\n<text x=\"28.0\" y=\"260\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"268\" r=\"5\"/>\n<text x=\"308.0\" y=\"260\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"308.0\" y1=\"298\" y2=\"298\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"298\" r=\"5\"/>\n<text x=\"84.0\" y=\"290\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"298\" r=\"5\"/>\n<text x=\"308.0\" y=\"290\">y</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"328\" y2=\"328\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"328\" r=\"5\"/>\n<text x=\"140.0\" y=\"320\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"328\" r=\"5\"/>\n<text x=\"308.0\" y=\"320\">y</text>\n<line class=\"bar\" x1=\"252.0\" x2=\"308.0\" y1=\"358\" y2=\"358\"/>\n<circle class=\"dot\" cx=\"252.0\" cy=\"358\" r=\"5\"/>\n<text x=\"252.0\" y=\"350\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"358\" r=\"5\"/>\n<text x=\"308.0\" y=\"350\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"380\">9 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"212\" viewBox=\"0 0 336 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"196.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"118\" r=\"5\"/>\n<text x=\"140.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"118\" r=\"5\"/>\n<text x=\"196.0\" y=\"110\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"148\" r=\"5\"/>\n<text x=\"28.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"148\" r=\"5\"/>\n<text x=\"308.0\" y=\"140\">y</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"178\" r=\"5\"/>\n<text x=\"140.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"178\" r=\"5\"/>\n<text x=\"308.0\" y=\"170\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"422\" viewBox=\"0 0 336 422\" role=\"img\"><title>10 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"84.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"140.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"148\" r=\"5\"/>\n<text x=\"28.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"140.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"178\" r=\"5\"/>\n<text x=\"84.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"178\" r=\"5\"/>\n<text x=\"140.0\" y=\"170\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"196.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"208\" r=\"5\"/>\n<text x=\"84.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"208\" r=\"5\"/>\n<text x=\"196.0\" y=\"200\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"238\" r=\"5\"/>\n<text x=\"28.0\" y=\"230\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"238\" r=\"5\"/>\n<text x=\"252.0\" y=\"230\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"252.0\" y1=\"268\" y2=\"268\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"268\" r=\"5\"/>\n<text x=\"84.0\" y=\"260\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"268\" r=\"5\"/>\n<text x=\"252.0\" y=\"260\">y</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"252.0\" y1=\"298\" y2=\"298\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"298\" r=\"5\"/>\n<text x=\"196.0\" y=\"290\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"298\" r=\"5\"/>\n<text x=\"252.0\" y=\"290\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"308.0\" y1=\"328\" y2=\"328\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"328\" r=\"5\"/>\n<text x=\"84.0\" y=\"320\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"328\" r=\"5\"/>\n<text x=\"308.0\" y=\"320\">y</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"308.0\" y1=\"358\" y2=\"358\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"358\" r=\"5\"/>\n<text x=\"196.0\" y=\"350\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"358\" r=\"5\"/>\n<text x=\"308.0\" y=\"350\">y</text>\n<line class=\"bar\" x1=\"252.0\" x2=\"308.0\" y1=\"388\" y2=\"388\"/>\n<circle class=\"dot\" cx=\"252.0\" cy=\"388\" r=\"5\"/>\n<text x=\"252.0\" y=\"380\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"388\" r=\"5\"/>\n<text x=\"308.0\" y=\"380\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"410\">10 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"302\" viewBox=\"0 0 336 302\" role=\"img\"><title>6 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"140.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"118\" r=\"5\"/>\n<text x=\"140.0\" y=\"110\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"140.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"148\" r=\"5\"/>\n<text x=\"84.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"196.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"178\" r=\"5\"/>\n<text x=\"84.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"178\" r=\"5\"/>\n<text x=\"196.0\" y=\"170\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"252.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"208\" r=\"5\"/>\n<text x=\"84.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"208\" r=\"5\"/>\n<text x=\"252.0\" y=\"200\">y</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"252.0\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"238\" r=\"5\"/>\n<text x=\"196.0\" y=\"230\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"238\" r=\"5\"/>\n<text x=\"252.0\" y=\"230\">y</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"308.0\" y1=\"268\" y2=\"268\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"268\" r=\"5\"/>\n<text x=\"196.0\" y=\"260\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"268\" r=\"5\"/>\n<text x=\"308.0\" y=\"260\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"290\">6 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"482\" viewBox=\"0 0 336 482\" role=\"img\"><title>12 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"84.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"140.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"148\" r=\"5\"/>\n<text x=\"28.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"140.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"178\" r=\"5\"/>\n<text x=\"84.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"178\" r=\"5\"/>\n<text x=\"140.0\" y=\"170\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"196.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"208\" r=\"5\"/>\n<text x=\"28.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"208\" r=\"5\"/>\n<text x=\"196.0\" y=\"200\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"196.0\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"238\" r=\"5\"/>\n<text x=\"84.0\" y=\"230\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"238\" r=\"5\"/>\n<text x=\"196.0\" y=\"230\">y</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"268\" y2=\"268\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"268\" r=\"5\"/>\n<text x=\"28.0\" y=\"260\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"268\" r=\"5\"/>\n<text x=\"252.0\" y=\"260\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"252.0\" y1=\"298\" y2=\"298\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"298\" r=\"5\"/>\n<text x=\"84.0\" y=\"290\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"298\" r=\"5\"/>\n<text x=\"252.0\" y=\"290\">y</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"252.0\" y1=\"328\" y2=\"328\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"328\" r=\"5\"/>\n<text x=\"140.0\" y=\"320\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"328\" r=\"5\"/>\n<text x=\"252.0\" y=\"320\">y</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"252.0\" y1=\"358\" y2=\"358\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"358\" r=\"5\"/>\n<text x=\"196.0\" y=\"350\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"358\" r=\"5\"/>\n<text x=\"252.0\" y=\"350\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"308.0\" y1=\"388\" y2=\"388\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"388\" r=\"5\"/>\n<text x=\"84.0\" y=\"380\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"388\" r=\"5\"/>\n<text x=\"308.0\" y=\"380\">y</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"308.0\" y1=\"418\" y2=\"418\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"418\" r=\"5\"/>\n<text x=\"196.0\" y=\"410\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"418\" r=\"5\"/>\n<text x=\"308.0\" y=\"410\">y</text>\n<line class=\"bar\" x1=\"252.0\" x2=\"308.0\" y1=\"448\" y2=\"448\"/>\n<circle class=\"dot\" cx=\"252.0\" cy=\"448\" r=\"5\"/>\n<text x=\"252.0\" y=\"440\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"448\" r=\"5\"/>\n<text x=\"308.0\" y=\"440\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"470\">12 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"152\" viewBox=\"0 0 336 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"196.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"118\" r=\"5\"/>\n<text x=\"140.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"118\" r=\"5\"/>\n<text x=\"196.0\" y=\"110\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"212\" viewBox=\"0 0 336 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"84.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">y</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"196.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">y</text>\n<line class=\"bar\" x1=\"252.0\" x2=\"308.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"252.0\" cy=\"178\" r=\"5\"/>\n<text x=\"252.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"178\" r=\"5\"/>\n<text x=\"308.0\" y=\"170\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"242\" viewBox=\"0 0 336 242\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"84.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">y</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"140.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"148\" r=\"5\"/>\n<text x=\"84.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">y</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"252.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"178\" r=\"5\"/>\n<text x=\"196.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"178\" r=\"5\"/>\n<text x=\"252.0\" y=\"170\">y</text>\n<line class=\"bar\" x1=\"252.0\" x2=\"308.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"252.0\" cy=\"208\" r=\"5\"/>\n<text x=\"252.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"208\" r=\"5\"/>\n<text x=\"308.0\" y=\"200\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"230\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"182\" viewBox=\"0 0 336 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"140.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"118\" r=\"5\"/>\n<text x=\"140.0\" y=\"110\">y</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"252.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"148\" r=\"5\"/>\n<text x=\"252.0\" y=\"140\">y</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"228\" viewBox=\"0 0 476 228\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"238.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"164\" r=\"5\"/>\n<text x=\"238.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"194\" r=\"5\"/>\n<text x=\"306.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"216\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"318\" viewBox=\"0 0 476 318\" role=\"img\"><title>6 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"238.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"164\" r=\"5\"/>\n<text x=\"238.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"194\" r=\"5\"/>\n<text x=\"34.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"224\" r=\"5\"/>\n<text x=\"102.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"224\" r=\"5\"/>\n<text x=\"374.0\" y=\"216\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"254\" r=\"5\"/>\n<text x=\"306.0\" y=\"246\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"254\" r=\"5\"/>\n<text x=\"374.0\" y=\"246\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"284\" y2=\"284\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"284\" r=\"5\"/>\n<text x=\"306.0\" y=\"276\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"284\" r=\"5\"/>\n<text x=\"442.0\" y=\"276\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"306\">6 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"228\" viewBox=\"0 0 476 228\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"134\" r=\"5\"/>\n<text x=\"102.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"164\" r=\"5\"/>\n<text x=\"306.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"194\" r=\"5\"/>\n<text x=\"306.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"194\" r=\"5\"/>\n<text x=\"442.0\" y=\"186\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"216\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"288\" viewBox=\"0 0 476 288\" role=\"img\"><title>5 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"238.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"164\" r=\"5\"/>\n<text x=\"238.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"194\" r=\"5\"/>\n<text x=\"102.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"224\" r=\"5\"/>\n<text x=\"306.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"224\" r=\"5\"/>\n<text x=\"374.0\" y=\"216\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"254\" r=\"5\"/>\n<text x=\"306.0\" y=\"246\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"254\" r=\"5\"/>\n<text x=\"442.0\" y=\"246\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"276\">5 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"182\" viewBox=\"0 0 336 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"118\" r=\"5\"/>\n<text x=\"252.0\" y=\"110\">b</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"252.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"148\" r=\"5\"/>\n<text x=\"252.0\" y=\"140\">b</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"370\" height=\"152\" viewBox=\"0 0 370 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"118\" r=\"5\"/>\n<text x=\"252.0\" y=\"110\">b</text>\n<text class=\"faint left\" x=\"336.0\" y=\"122\">ann</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"182\" viewBox=\"0 0 336 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"118\" r=\"5\"/>\n<text x=\"308.0\" y=\"110\">b</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"148\" r=\"5\"/>\n<text x=\"308.0\" y=\"140\">b</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"370\" height=\"152\" viewBox=\"0 0 370 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"118\" r=\"5\"/>\n<text x=\"140.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"118\" r=\"5\"/>\n<text x=\"196.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"118\" r=\"5\"/>\n<text x=\"308.0\" y=\"110\">b</text>\n<text class=\"faint left\" x=\"336.0\" y=\"122\">bob</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"182\" viewBox=\"0 0 336 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"118\" r=\"5\"/>\n<text x=\"252.0\" y=\"110\">b</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"148\" r=\"5\"/>\n<text x=\"308.0\" y=\"140\">b</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"370\" height=\"182\" viewBox=\"0 0 370 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"118\" r=\"5\"/>\n<text x=\"252.0\" y=\"110\">b</text>\n<text class=\"faint left\" x=\"336.0\" y=\"122\">ann</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"148\" r=\"5\"/>\n<text x=\"308.0\" y=\"140\">b</text>\n<text class=\"faint left\" x=\"336.0\" y=\"152\">bob</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"152\" viewBox=\"0 0 336 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"252.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"118\" r=\"5\"/>\n<text x=\"140.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"118\" r=\"5\"/>\n<text x=\"196.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"118\" r=\"5\"/>\n<text x=\"252.0\" y=\"110\">b</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"122\" viewBox=\"0 0 336 122\" role=\"img\"><title>no match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<text class=\"faint left\" x=\"8\" y=\"110\">no match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"152\" viewBox=\"0 0 336 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"118\" r=\"5\"/>\n<text x=\"140.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"118\" r=\"5\"/>\n<text x=\"196.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"118\" r=\"5\"/>\n<text x=\"308.0\" y=\"110\">b</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"212\" viewBox=\"0 0 336 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"118\" r=\"5\"/>\n<text x=\"252.0\" y=\"110\">b</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"148\" r=\"5\"/>\n<text x=\"28.0\" y=\"140\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"148\" r=\"5\"/>\n<text x=\"252.0\" y=\"140\">b</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"252.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"178\" r=\"5\"/>\n<text x=\"140.0\" y=\"170\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"178\" r=\"5\"/>\n<text x=\"196.0\" y=\"170\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"178\" r=\"5\"/>\n<text x=\"252.0\" y=\"170\">b</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"212\" viewBox=\"0 0 336 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"118\" r=\"5\"/>\n<text x=\"308.0\" y=\"110\">b</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"148\" r=\"5\"/>\n<text x=\"28.0\" y=\"140\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"148\" r=\"5\"/>\n<text x=\"308.0\" y=\"140\">b</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"178\" r=\"5\"/>\n<text x=\"140.0\" y=\"170\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"178\" r=\"5\"/>\n<text x=\"196.0\" y=\"170\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"178\" r=\"5\"/>\n<text x=\"308.0\" y=\"170\">b</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"212\" viewBox=\"0 0 336 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">View</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Cart</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Buy</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:08</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:10</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:12</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:25</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:40</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">v</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">c</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"118\" r=\"5\"/>\n<text x=\"252.0\" y=\"110\">b</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"148\" r=\"5\"/>\n<text x=\"28.0\" y=\"140\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"148\" r=\"5\"/>\n<text x=\"308.0\" y=\"140\">b</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"178\" r=\"5\"/>\n<text x=\"140.0\" y=\"170\">v</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"178\" r=\"5\"/>\n<text x=\"196.0\" y=\"170\">c</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"178\" r=\"5\"/>\n<text x=\"308.0\" y=\"170\">b</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"517\" height=\"258\" viewBox=\"0 0 517 258\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"238.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"134\" r=\"5\"/>\n<text x=\"238.0\" y=\"126\">s</text>\n<text class=\"faint left\" x=\"476.0\" y=\"138\">ACME</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<text class=\"faint left\" x=\"476.0\" y=\"168\">BOLT</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"194\" r=\"5\"/>\n<text x=\"34.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"194\" r=\"5\"/>\n<text x=\"442.0\" y=\"186\">s</text>\n<text class=\"faint left\" x=\"476.0\" y=\"198\">ACME</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"224\" r=\"5\"/>\n<text x=\"306.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"224\" r=\"5\"/>\n<text x=\"442.0\" y=\"216\">s</text>\n<text class=\"faint left\" x=\"476.0\" y=\"228\">ACME</text>\n<text class=\"faint left\" x=\"8\" y=\"246\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"168\" viewBox=\"0 0 476 168\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"134\" r=\"5\"/>\n<text x=\"306.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"134\" r=\"5\"/>\n<text x=\"374.0\" y=\"126\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"156\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"517\" height=\"198\" viewBox=\"0 0 517 198\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"134\" r=\"5\"/>\n<text x=\"102.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"134\" r=\"5\"/>\n<text x=\"374.0\" y=\"126\">s</text>\n<text class=\"faint left\" x=\"476.0\" y=\"138\">BOLT</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"164\" r=\"5\"/>\n<text x=\"306.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"164\" r=\"5\"/>\n<text x=\"442.0\" y=\"156\">s</text>\n<text class=\"faint left\" x=\"476.0\" y=\"168\">ACME</text>\n<text class=\"faint left\" x=\"8\" y=\"186\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"448\" height=\"168\" viewBox=\"0 0 448 168\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Order</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Change</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Pay</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Order</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Change</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Pay</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Ship</text>\n<text class=\"type\" x=\"420.0\" y=\"22\">Pay</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"420.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">2</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">8</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"420.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"28.0\" y=\"70\">09:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"70\">09:10</text>\n<text class=\"faint\" x=\"140.0\" y=\"70\">09:20</text>\n<text class=\"faint\" x=\"196.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"252.0\" y=\"70\">09:40</text>\n<text class=\"faint\" x=\"308.0\" y=\"70\">09:50</text>\n<text class=\"faint\" x=\"364.0\" y=\"70\">10:00</text>\n<text class=\"faint\" x=\"420.0\" y=\"70\">10:10</text>\n<line class=\"line\" x1=\"28.0\" x2=\"420.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"420.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"104\">6</text>\n<text class=\"faint\" x=\"420.0\" y=\"104\">7</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"140.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"134\" r=\"5\"/>\n<text x=\"28.0\" y=\"126\">o</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"134\" r=\"5\"/>\n<text x=\"140.0\" y=\"126\">p</text>\n<text class=\"faint left\" x=\"8\" y=\"156\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"448\" height=\"138\" viewBox=\"0 0 448 138\" role=\"img\"><title>no match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Order</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Change</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Pay</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Order</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Change</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Pay</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Ship</text>\n<text class=\"type\" x=\"420.0\" y=\"22\">Pay</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"420.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">2</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">8</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"420.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"28.0\" y=\"70\">09:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"70\">09:10</text>\n<text class=\"faint\" x=\"140.0\" y=\"70\">09:20</text>\n<text class=\"faint\" x=\"196.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"252.0\" y=\"70\">09:40</text>\n<text class=\"faint\" x=\"308.0\" y=\"70\">09:50</text>\n<text class=\"faint\" x=\"364.0\" y=\"70\">10:00</text>\n<text class=\"faint\" x=\"420.0\" y=\"70\">10:10</text>\n<line class=\"line\" x1=\"28.0\" x2=\"420.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"420.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"104\">6</text>\n<text class=\"faint\" x=\"420.0\" y=\"104\">7</text>\n<text class=\"faint left\" x=\"8\" y=\"126\">no match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"448\" height=\"228\" viewBox=\"0 0 448 228\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Order</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Change</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Pay</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Order</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Change</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Pay</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Ship</text>\n<text class=\"type\" x=\"420.0\" y=\"22\">Pay</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"420.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">2</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">8</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"420.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"28.0\" y=\"70\">09:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"70\">09:10</text>\n<text class=\"faint\" x=\"140.0\" y=\"70\">09:20</text>\n<text class=\"faint\" x=\"196.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"252.0\" y=\"70\">09:40</text>\n<text class=\"faint\" x=\"308.0\" y=\"70\">09:50</text>\n<text class=\"faint\" x=\"364.0\" y=\"70\">10:00</text>\n<text class=\"faint\" x=\"420.0\" y=\"70\">10:10</text>\n<line class=\"line\" x1=\"28.0\" x2=\"420.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"420.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"104\">6</text>\n<text class=\"faint\" x=\"420.0\" y=\"104\">7</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"140.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"134\" r=\"5\"/>\n<text x=\"28.0\" y=\"126\">o</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"134\" r=\"5\"/>\n<text x=\"140.0\" y=\"126\">p</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"164\" r=\"5\"/>\n<text x=\"28.0\" y=\"156\">o</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"164\" r=\"5\"/>\n<text x=\"308.0\" y=\"156\">p</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"308.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"194\" r=\"5\"/>\n<text x=\"196.0\" y=\"186\">o</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"194\" r=\"5\"/>\n<text x=\"308.0\" y=\"186\">p</text>\n<text class=\"faint left\" x=\"8\" y=\"216\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"448\" height=\"198\" viewBox=\"0 0 448 198\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Order</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Change</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Pay</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Order</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Change</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Pay</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Ship</text>\n<text class=\"type\" x=\"420.0\" y=\"22\">Pay</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">2</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"420.0\" y=\"38\">1</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">2</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">8</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"420.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"28.0\" y=\"70\">09:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"70\">09:10</text>\n<text class=\"faint\" x=\"140.0\" y=\"70\">09:20</text>\n<text class=\"faint\" x=\"196.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"252.0\" y=\"70\">09:40</text>\n<text class=\"faint\" x=\"308.0\" y=\"70\">09:50</text>\n<text class=\"faint\" x=\"364.0\" y=\"70\">10:00</text>\n<text class=\"faint\" x=\"420.0\" y=\"70\">10:10</text>\n<line class=\"line\" x1=\"28.0\" x2=\"420.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"420.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"104\">6</text>\n<text class=\"faint\" x=\"420.0\" y=\"104\">7</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"140.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"134\" r=\"5\"/>\n<text x=\"28.0\" y=\"126\">o</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"134\" r=\"5\"/>\n<text x=\"140.0\" y=\"126\">p</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"308.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"164\" r=\"5\"/>\n<text x=\"196.0\" y=\"156\">o</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"164\" r=\"5\"/>\n<text x=\"308.0\" y=\"156\">p</text>\n<text class=\"faint left\" x=\"8\" y=\"186\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"426\" height=\"182\" viewBox=\"0 0 426 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Logon</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">09:00</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">12:00</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">13:00</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">17:30</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">21:00</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">22:00</text>\n<line class=\"line\" x1=\"28.0\" x2=\"364.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"28.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"122\">ann</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"196.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"152\">ann</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"426\" height=\"152\" viewBox=\"0 0 426 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Logon</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">09:00</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">12:00</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">13:00</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">17:30</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">21:00</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">22:00</text>\n<line class=\"line\" x1=\"28.0\" x2=\"364.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"28.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"122\">ann</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"426\" height=\"212\" viewBox=\"0 0 426 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Logon</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">09:00</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">12:00</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">13:00</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">17:30</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">21:00</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">22:00</text>\n<line class=\"line\" x1=\"28.0\" x2=\"364.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"28.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"122\">ann</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"84.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"148\" r=\"5\"/>\n<text x=\"84.0\" y=\"140\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"152\">bob</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"196.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"178\" r=\"5\"/>\n<text x=\"196.0\" y=\"170\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"182\">ann</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"426\" height=\"182\" viewBox=\"0 0 426 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Logon</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">09:00</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">12:00</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">13:00</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">17:30</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">21:00</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">22:00</text>\n<line class=\"line\" x1=\"28.0\" x2=\"364.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"84.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"122\">bob</text>\n<line class=\"bar\" x1=\"364.0\" x2=\"364.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"364.0\" cy=\"148\" r=\"5\"/>\n<text x=\"364.0\" y=\"140\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"152\">bob</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"426\" height=\"212\" viewBox=\"0 0 426 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Logon</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">09:00</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">12:00</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">13:00</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">17:30</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">21:00</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">22:00</text>\n<line class=\"line\" x1=\"28.0\" x2=\"364.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"84.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"122\">bob</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"196.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"152\">ann</text>\n<line class=\"bar\" x1=\"364.0\" x2=\"364.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"364.0\" cy=\"178\" r=\"5\"/>\n<text x=\"364.0\" y=\"170\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"182\">bob</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"426\" height=\"152\" viewBox=\"0 0 426 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Logon</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Logoff</text>\n<text class=\"type\" x=\"364.0\" y=\"22\">Logon</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">ann</text>\n<text class=\"faint\" x=\"364.0\" y=\"38\">bob</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">08:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">09:00</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">12:00</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">13:00</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">17:30</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">21:00</text>\n<text class=\"faint\" x=\"364.0\" y=\"54\">22:00</text>\n<line class=\"line\" x1=\"28.0\" x2=\"364.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"364.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<text class=\"faint\" x=\"364.0\" y=\"88\">6</text>\n<line class=\"bar\" x1=\"364.0\" x2=\"364.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"364.0\" cy=\"118\" r=\"5\"/>\n<text x=\"364.0\" y=\"110\">l</text>\n<text class=\"faint left\" x=\"392.0\" y=\"122\">bob</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"196\" viewBox=\"0 0 340 196\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"102\" r=\"5\"/>\n<text x=\"102.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"132\" y2=\"132\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"132\" r=\"5\"/>\n<text x=\"34.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"132\" r=\"5\"/>\n<text x=\"238.0\" y=\"124\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"132\" r=\"5\"/>\n<text x=\"306.0\" y=\"124\">c</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"306.0\" y1=\"162\" y2=\"162\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"162\" r=\"5\"/>\n<text x=\"170.0\" y=\"154\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"162\" r=\"5\"/>\n<text x=\"238.0\" y=\"154\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"162\" r=\"5\"/>\n<text x=\"306.0\" y=\"154\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"184\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"226\" viewBox=\"0 0 340 226\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"102\" r=\"5\"/>\n<text x=\"102.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"102\" r=\"5\"/>\n<text x=\"238.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"132\" y2=\"132\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"132\" r=\"5\"/>\n<text x=\"34.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"132\" r=\"5\"/>\n<text x=\"102.0\" y=\"124\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"132\" r=\"5\"/>\n<text x=\"306.0\" y=\"124\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"162\" y2=\"162\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"162\" r=\"5\"/>\n<text x=\"34.0\" y=\"154\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"162\" r=\"5\"/>\n<text x=\"238.0\" y=\"154\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"162\" r=\"5\"/>\n<text x=\"306.0\" y=\"154\">c</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"306.0\" y1=\"192\" y2=\"192\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"192\" r=\"5\"/>\n<text x=\"170.0\" y=\"184\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"192\" r=\"5\"/>\n<text x=\"238.0\" y=\"184\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"192\" r=\"5\"/>\n<text x=\"306.0\" y=\"184\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"214\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"226\" viewBox=\"0 0 340 226\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"102\" r=\"5\"/>\n<text x=\"102.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"132\" y2=\"132\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"132\" r=\"5\"/>\n<text x=\"34.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"170.0\" cy=\"132\" r=\"5\"/>\n<text x=\"170.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"132\" r=\"5\"/>\n<text x=\"238.0\" y=\"124\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"132\" r=\"5\"/>\n<text x=\"306.0\" y=\"124\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"162\" y2=\"162\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"162\" r=\"5\"/>\n<text x=\"34.0\" y=\"154\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"162\" r=\"5\"/>\n<text x=\"238.0\" y=\"154\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"162\" r=\"5\"/>\n<text x=\"306.0\" y=\"154\">c</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"306.0\" y1=\"192\" y2=\"192\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"192\" r=\"5\"/>\n<text x=\"170.0\" y=\"184\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"192\" r=\"5\"/>\n<text x=\"238.0\" y=\"184\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"192\" r=\"5\"/>\n<text x=\"306.0\" y=\"184\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"214\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"256\" viewBox=\"0 0 340 256\" role=\"img\"><title>5 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"102\" r=\"5\"/>\n<text x=\"102.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"102\" r=\"5\"/>\n<text x=\"238.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"132\" y2=\"132\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"132\" r=\"5\"/>\n<text x=\"34.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"132\" r=\"5\"/>\n<text x=\"102.0\" y=\"124\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"132\" r=\"5\"/>\n<text x=\"306.0\" y=\"124\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"162\" y2=\"162\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"162\" r=\"5\"/>\n<text x=\"34.0\" y=\"154\">a</text>\n<circle class=\"dot\" cx=\"170.0\" cy=\"162\" r=\"5\"/>\n<text x=\"170.0\" y=\"154\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"162\" r=\"5\"/>\n<text x=\"238.0\" y=\"154\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"162\" r=\"5\"/>\n<text x=\"306.0\" y=\"154\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"192\" y2=\"192\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"192\" r=\"5\"/>\n<text x=\"34.0\" y=\"184\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"192\" r=\"5\"/>\n<text x=\"238.0\" y=\"184\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"192\" r=\"5\"/>\n<text x=\"306.0\" y=\"184\">c</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"306.0\" y1=\"222\" y2=\"222\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"222\" r=\"5\"/>\n<text x=\"170.0\" y=\"214\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"222\" r=\"5\"/>\n<text x=\"238.0\" y=\"214\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"222\" r=\"5\"/>\n<text x=\"306.0\" y=\"214\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"244\">5 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"136\" viewBox=\"0 0 340 136\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"102\" r=\"5\"/>\n<text x=\"102.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"124\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"136\" viewBox=\"0 0 340 136\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"102\" r=\"5\"/>\n<text x=\"102.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"102\" r=\"5\"/>\n<text x=\"238.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"124\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"136\" viewBox=\"0 0 340 136\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"102\" r=\"5\"/>\n<text x=\"170.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"102\" r=\"5\"/>\n<text x=\"238.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"124\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"136\" viewBox=\"0 0 340 136\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"170.0\" cy=\"102\" r=\"5\"/>\n<text x=\"170.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"102\" r=\"5\"/>\n<text x=\"238.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"124\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"166\" viewBox=\"0 0 340 166\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"102\" r=\"5\"/>\n<text x=\"102.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"102\" r=\"5\"/>\n<text x=\"238.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<line class=\"bar\" x1=\"170.0\" x2=\"306.0\" y1=\"132\" y2=\"132\"/>\n<circle class=\"dot\" cx=\"170.0\" cy=\"132\" r=\"5\"/>\n<text x=\"170.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"132\" r=\"5\"/>\n<text x=\"238.0\" y=\"124\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"132\" r=\"5\"/>\n<text x=\"306.0\" y=\"124\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"154\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"166\" viewBox=\"0 0 340 166\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"102\" r=\"5\"/>\n<text x=\"102.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"132\" y2=\"132\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"132\" r=\"5\"/>\n<text x=\"34.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"170.0\" cy=\"132\" r=\"5\"/>\n<text x=\"170.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"132\" r=\"5\"/>\n<text x=\"238.0\" y=\"124\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"132\" r=\"5\"/>\n<text x=\"306.0\" y=\"124\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"154\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"166\" viewBox=\"0 0 340 166\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">A</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">B</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">C</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">10:00</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">10:00:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">10:00:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">10:00:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">10:00:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"306.0\" y1=\"54\" y2=\"54\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"54\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"54\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"72\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"72\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"72\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"72\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"72\">4</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"102\" y2=\"102\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"102\" r=\"5\"/>\n<text x=\"34.0\" y=\"94\">a</text>\n<circle class=\"dot\" cx=\"102.0\" cy=\"102\" r=\"5\"/>\n<text x=\"102.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"102\" r=\"5\"/>\n<text x=\"238.0\" y=\"94\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"102\" r=\"5\"/>\n<text x=\"306.0\" y=\"94\">c</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"306.0\" y1=\"132\" y2=\"132\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"132\" r=\"5\"/>\n<text x=\"34.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"170.0\" cy=\"132\" r=\"5\"/>\n<text x=\"170.0\" y=\"124\">a</text>\n<circle class=\"dot\" cx=\"238.0\" cy=\"132\" r=\"5\"/>\n<text x=\"238.0\" y=\"124\">b</text>\n<circle class=\"dot\" cx=\"306.0\" cy=\"132\" r=\"5\"/>\n<text x=\"306.0\" y=\"124\">c</text>\n<text class=\"faint left\" x=\"8\" y=\"154\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"332\" viewBox=\"0 0 336 332\" role=\"img\"><title>7 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"196.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"118\" r=\"5\"/>\n<text x=\"196.0\" y=\"110\">x</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"148\" r=\"5\"/>\n<text x=\"28.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"148\" r=\"5\"/>\n<text x=\"84.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"148\" r=\"5\"/>\n<text x=\"308.0\" y=\"140\">x</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"178\" r=\"5\"/>\n<text x=\"28.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"178\" r=\"5\"/>\n<text x=\"196.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"178\" r=\"5\"/>\n<text x=\"308.0\" y=\"170\">x</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"208\" r=\"5\"/>\n<text x=\"28.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"208\" r=\"5\"/>\n<text x=\"252.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"208\" r=\"5\"/>\n<text x=\"308.0\" y=\"200\">x</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"308.0\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"238\" r=\"5\"/>\n<text x=\"84.0\" y=\"230\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"238\" r=\"5\"/>\n<text x=\"196.0\" y=\"230\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"238\" r=\"5\"/>\n<text x=\"308.0\" y=\"230\">x</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"268\" y2=\"268\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"268\" r=\"5\"/>\n<text x=\"140.0\" y=\"260\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"268\" r=\"5\"/>\n<text x=\"196.0\" y=\"260\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"268\" r=\"5\"/>\n<text x=\"308.0\" y=\"260\">x</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"298\" y2=\"298\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"298\" r=\"5\"/>\n<text x=\"140.0\" y=\"290\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"298\" r=\"5\"/>\n<text x=\"252.0\" y=\"290\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"298\" r=\"5\"/>\n<text x=\"308.0\" y=\"290\">x</text>\n<text class=\"faint left\" x=\"8\" y=\"320\">7 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"452\" viewBox=\"0 0 336 452\" role=\"img\"><title>11 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"84.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">x</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"196.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"148\" r=\"5\"/>\n<text x=\"28.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">x</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"196.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"178\" r=\"5\"/>\n<text x=\"84.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"178\" r=\"5\"/>\n<text x=\"196.0\" y=\"170\">x</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"196.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"208\" r=\"5\"/>\n<text x=\"140.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"208\" r=\"5\"/>\n<text x=\"196.0\" y=\"200\">x</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"252.0\" y1=\"238\" y2=\"238\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"238\" r=\"5\"/>\n<text x=\"28.0\" y=\"230\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"238\" r=\"5\"/>\n<text x=\"252.0\" y=\"230\">x</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"252.0\" y1=\"268\" y2=\"268\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"268\" r=\"5\"/>\n<text x=\"140.0\" y=\"260\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"268\" r=\"5\"/>\n<text x=\"252.0\" y=\"260\">x</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"298\" y2=\"298\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"298\" r=\"5\"/>\n<text x=\"28.0\" y=\"290\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"298\" r=\"5\"/>\n<text x=\"308.0\" y=\"290\">x</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"308.0\" y1=\"328\" y2=\"328\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"328\" r=\"5\"/>\n<text x=\"84.0\" y=\"320\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"328\" r=\"5\"/>\n<text x=\"308.0\" y=\"320\">x</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"308.0\" y1=\"358\" y2=\"358\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"358\" r=\"5\"/>\n<text x=\"140.0\" y=\"350\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"358\" r=\"5\"/>\n<text x=\"308.0\" y=\"350\">x</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"308.0\" y1=\"388\" y2=\"388\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"388\" r=\"5\"/>\n<text x=\"196.0\" y=\"380\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"388\" r=\"5\"/>\n<text x=\"308.0\" y=\"380\">x</text>\n<line class=\"bar\" x1=\"252.0\" x2=\"308.0\" y1=\"418\" y2=\"418\"/>\n<circle class=\"dot\" cx=\"252.0\" cy=\"418\" r=\"5\"/>\n<text x=\"252.0\" y=\"410\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"418\" r=\"5\"/>\n<text x=\"308.0\" y=\"410\">x</text>\n<text class=\"faint left\" x=\"8\" y=\"440\">11 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"152\" viewBox=\"0 0 336 152\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"308.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"118\" r=\"5\"/>\n<text x=\"196.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"118\" r=\"5\"/>\n<text x=\"308.0\" y=\"110\">x</text>\n<text class=\"faint left\" x=\"8\" y=\"140\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"212\" viewBox=\"0 0 336 212\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"84.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">x</text>\n<line class=\"bar\" x1=\"140.0\" x2=\"196.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">x</text>\n<line class=\"bar\" x1=\"252.0\" x2=\"308.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"252.0\" cy=\"178\" r=\"5\"/>\n<text x=\"252.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"308.0\" cy=\"178\" r=\"5\"/>\n<text x=\"308.0\" y=\"170\">x</text>\n<text class=\"faint left\" x=\"8\" y=\"200\">3 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"122\" viewBox=\"0 0 336 122\" role=\"img\"><title>no match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<text class=\"faint left\" x=\"8\" y=\"110\">no match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"242\" viewBox=\"0 0 336 242\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"28.0\" x2=\"140.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"28.0\" cy=\"118\" r=\"5\"/>\n<text x=\"28.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"118\" r=\"5\"/>\n<text x=\"140.0\" y=\"110\">x</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"140.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"148\" r=\"5\"/>\n<text x=\"84.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"148\" r=\"5\"/>\n<text x=\"140.0\" y=\"140\">x</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"252.0\" y1=\"178\" y2=\"178\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"178\" r=\"5\"/>\n<text x=\"84.0\" y=\"170\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"178\" r=\"5\"/>\n<text x=\"252.0\" y=\"170\">x</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"252.0\" y1=\"208\" y2=\"208\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"208\" r=\"5\"/>\n<text x=\"196.0\" y=\"200\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"208\" r=\"5\"/>\n<text x=\"252.0\" y=\"200\">x</text>\n<text class=\"faint left\" x=\"8\" y=\"230\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"336\" height=\"182\" viewBox=\"0 0 336 182\" role=\"img\"><title>2 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"28.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"84.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"140.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"196.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"252.0\" y=\"22\">Trade</text>\n<text class=\"type\" x=\"308.0\" y=\"22\">Trade</text>\n<text class=\"faint\" x=\"28.0\" y=\"38\">100</text>\n<text class=\"faint\" x=\"84.0\" y=\"38\">104</text>\n<text class=\"faint\" x=\"140.0\" y=\"38\">98</text>\n<text class=\"faint\" x=\"196.0\" y=\"38\">106</text>\n<text class=\"faint\" x=\"252.0\" y=\"38\">103</text>\n<text class=\"faint\" x=\"308.0\" y=\"38\">108</text>\n<text class=\"faint\" x=\"28.0\" y=\"54\">10:00</text>\n<text class=\"faint\" x=\"84.0\" y=\"54\">10:01</text>\n<text class=\"faint\" x=\"140.0\" y=\"54\">10:02</text>\n<text class=\"faint\" x=\"196.0\" y=\"54\">10:03</text>\n<text class=\"faint\" x=\"252.0\" y=\"54\">10:04</text>\n<text class=\"faint\" x=\"308.0\" y=\"54\">10:05</text>\n<line class=\"line\" x1=\"28.0\" x2=\"308.0\" y1=\"70\" y2=\"70\"/>\n<circle class=\"event\" cx=\"28.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"84.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"140.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"196.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"252.0\" cy=\"70\" r=\"4\"/>\n<circle class=\"event\" cx=\"308.0\" cy=\"70\" r=\"4\"/>\n<text class=\"faint\" x=\"28.0\" y=\"88\">0</text>\n<text class=\"faint\" x=\"84.0\" y=\"88\">1</text>\n<text class=\"faint\" x=\"140.0\" y=\"88\">2</text>\n<text class=\"faint\" x=\"196.0\" y=\"88\">3</text>\n<text class=\"faint\" x=\"252.0\" y=\"88\">4</text>\n<text class=\"faint\" x=\"308.0\" y=\"88\">5</text>\n<line class=\"bar\" x1=\"84.0\" x2=\"140.0\" y1=\"118\" y2=\"118\"/>\n<circle class=\"dot\" cx=\"84.0\" cy=\"118\" r=\"5\"/>\n<text x=\"84.0\" y=\"110\">x</text>\n<circle class=\"dot\" cx=\"140.0\" cy=\"118\" r=\"5\"/>\n<text x=\"140.0\" y=\"110\">x</text>\n<line class=\"bar\" x1=\"196.0\" x2=\"252.0\" y1=\"148\" y2=\"148\"/>\n<circle class=\"dot\" cx=\"196.0\" cy=\"148\" r=\"5\"/>\n<text x=\"196.0\" y=\"140\">x</text>\n<circle class=\"dot\" cx=\"252.0\" cy=\"148\" r=\"5\"/>\n<text x=\"252.0\" y=\"140\">x</text>\n<text class=\"faint left\" x=\"8\" y=\"170\">2 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"258\" viewBox=\"0 0 476 258\" role=\"img\"><title>4 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"134\" r=\"5\"/>\n<text x=\"374.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"194\" r=\"5\"/>\n<text x=\"306.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"224\" r=\"5\"/>\n<text x=\"306.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"224\" r=\"5\"/>\n<text x=\"442.0\" y=\"216\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"246\">4 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"318\" viewBox=\"0 0 476 318\" role=\"img\"><title>6 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"374.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"134\" r=\"5\"/>\n<text x=\"374.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"374.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"164\" r=\"5\"/>\n<text x=\"374.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"374.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"194\" r=\"5\"/>\n<text x=\"306.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"374.0\" cy=\"194\" r=\"5\"/>\n<text x=\"374.0\" y=\"186\">s</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"224\" y2=\"224\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"224\" r=\"5\"/>\n<text x=\"34.0\" y=\"216\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"224\" r=\"5\"/>\n<text x=\"442.0\" y=\"216\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"254\" y2=\"254\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"254\" r=\"5\"/>\n<text x=\"102.0\" y=\"246\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"254\" r=\"5\"/>\n<text x=\"442.0\" y=\"246\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"284\" y2=\"284\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"284\" r=\"5\"/>\n<text x=\"306.0\" y=\"276\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"284\" r=\"5\"/>\n<text x=\"442.0\" y=\"276\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"306\">6 matches</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"138\" viewBox=\"0 0 476 138\" role=\"img\"><title>no match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<text class=\"faint left\" x=\"8\" y=\"126\">no match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"168\" viewBox=\"0 0 476 168\" role=\"img\"><title>1 match</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"134\" r=\"5\"/>\n<text x=\"306.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"134\" r=\"5\"/>\n<text x=\"442.0\" y=\"126\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"156\">1 match</text>\n</svg>\n",
"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"476\" height=\"228\" viewBox=\"0 0 476 228\" role=\"img\"><title>3 matches</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"type\" x=\"34.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"102.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"170.0\" y=\"22\">News</text>\n<text class=\"type\" x=\"238.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"306.0\" y=\"22\">Buy</text>\n<text class=\"type\" x=\"374.0\" y=\"22\">Sell</text>\n<text class=\"type\" x=\"442.0\" y=\"22\">Sell</text>\n<text class=\"faint\" x=\"34.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"102.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"170.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"238.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"306.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"374.0\" y=\"38\">BOLT</text>\n<text class=\"faint\" x=\"442.0\" y=\"38\">ACME</text>\n<text class=\"faint\" x=\"34.0\" y=\"54\">100</text>\n<text class=\"faint\" x=\"102.0\" y=\"54\">103</text>\n<text class=\"faint\" x=\"170.0\" y=\"54\">-</text>\n<text class=\"faint\" x=\"238.0\" y=\"54\">104</text>\n<text class=\"faint\" x=\"306.0\" y=\"54\">101</text>\n<text class=\"faint\" x=\"374.0\" y=\"54\">106</text>\n<text class=\"faint\" x=\"442.0\" y=\"54\">108</text>\n<text class=\"faint\" x=\"34.0\" y=\"70\">09:30</text>\n<text class=\"faint\" x=\"102.0\" y=\"70\">09:30:10</text>\n<text class=\"faint\" x=\"170.0\" y=\"70\">09:30:20</text>\n<text class=\"faint\" x=\"238.0\" y=\"70\">09:30:30</text>\n<text class=\"faint\" x=\"306.0\" y=\"70\">09:30:40</text>\n<text class=\"faint\" x=\"374.0\" y=\"70\">09:30:50</text>\n<text class=\"faint\" x=\"442.0\" y=\"70\">09:31:40</text>\n<line class=\"line\" x1=\"34.0\" x2=\"442.0\" y1=\"86\" y2=\"86\"/>\n<circle class=\"event\" cx=\"34.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"102.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"170.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"238.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"306.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"374.0\" cy=\"86\" r=\"4\"/>\n<circle class=\"event\" cx=\"442.0\" cy=\"86\" r=\"4\"/>\n<text class=\"faint\" x=\"34.0\" y=\"104\">0</text>\n<text class=\"faint\" x=\"102.0\" y=\"104\">1</text>\n<text class=\"faint\" x=\"170.0\" y=\"104\">2</text>\n<text class=\"faint\" x=\"238.0\" y=\"104\">3</text>\n<text class=\"faint\" x=\"306.0\" y=\"104\">4</text>\n<text class=\"faint\" x=\"374.0\" y=\"104\">5</text>\n<text class=\"faint\" x=\"442.0\" y=\"104\">6</text>\n<line class=\"bar\" x1=\"34.0\" x2=\"442.0\" y1=\"134\" y2=\"134\"/>\n<circle class=\"dot\" cx=\"34.0\" cy=\"134\" r=\"5\"/>\n<text x=\"34.0\" y=\"126\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"134\" r=\"5\"/>\n<text x=\"442.0\" y=\"126\">s</text>\n<line class=\"bar\" x1=\"102.0\" x2=\"442.0\" y1=\"164\" y2=\"164\"/>\n<circle class=\"dot\" cx=\"102.0\" cy=\"164\" r=\"5\"/>\n<text x=\"102.0\" y=\"156\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"164\" r=\"5\"/>\n<text x=\"442.0\" y=\"156\">s</text>\n<line class=\"bar\" x1=\"306.0\" x2=\"442.0\" y1=\"194\" y2=\"194\"/>\n<circle class=\"dot\" cx=\"306.0\" cy=\"194\" r=\"5\"/>\n<text x=\"306.0\" y=\"186\">b</text>\n<circle class=\"dot\" cx=\"442.0\" cy=\"194\" r=\"5\"/>\n<text x=\"442.0\" y=\"186\">s</text>\n<text class=\"faint left\" x=\"8\" y=\"216\">3 matches</text>\n</svg>\n"
]
};
