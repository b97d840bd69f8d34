// The playground: shows what recorded.js holds. Nothing is computed here: each choice has its recorded matches.
(() => {
  const root = document.getElementById("play");
  const { streams, examples, pictures } = RECORDED;

  // An element with attributes and children; text is always text.
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  const table = (caption, names, rows) =>
    make("table", {},
      make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, cell))))));

  // What may be wider than the page moves inside a frame of its own, also by keyboard.
  const frame = (label, ...children) =>
    make("div", { class: "play-frame", role: "region", "aria-label": label, tabindex: "0" }, ...children);

  const picker = make("select", { id: "play-example" },
    ...examples.map((example, at) => make("option", { value: at }, example.title)));
  const said = make("p", { class: "play-said" });
  const query = make("div", { class: "play-query", role: "group", "aria-label": "Query" });
  const answers = make("div", { id: "play-answers", "aria-live": "polite" });
  const command = make("code", { id: "play-command" });
  const stream = make("div", { class: "play-stream" });

  let example = examples[0];
  let chosen = {};

  const key = () => Object.keys(example.places).map((name) => chosen[name]).join(",");

  const chooser = (name) => {
    const { label, options } = example.places[name];
    const select = make("select", { "aria-label": label, title: label, "data-place": name },
      ...options.map((option, at) => make("option", { value: at }, option || `(no ${label})`)));
    select.value = chosen[name];
    select.addEventListener("change", () => {
      chosen[name] = Number(select.value);
      show();
    });
    return select;
  };

  // Texts and names of places take turns.
  const pieces = (parts) => parts.map((part, at) => (at % 2 ? chooser(part) : part));

  const show = () => {
    const found = example.answers[key()];
    const number = found.rows.length;
    const caption = number ? `${number} match${number > 1 ? "es" : ""}` : "No match";
    const picture = make("div", { class: "play-picture" });
    picture.innerHTML = pictures[found.picture];
    answers.replaceChildren(
      frame("Timeline of the matches", picture),
      number ? frame("Table of the matches", table(caption, found.names, found.rows)) : make("p", {}, `${caption}.`));
    command.textContent = found.command;
    root.dataset.shown = `${example.key}=${key()}`;
    history.replaceState(null, "", `#${root.dataset.shown}`);
  };

  const open = (at, numbers = []) => {
    example = examples[at];
    chosen = Object.fromEntries(Object.keys(example.places).map((name, place) => [name, numbers[place] || 0]));
    picker.value = at;
    const more = make("a", { href: example.page.replace(/\.md$/, ".html") }, "Read more");
    said.replaceChildren(example.said, " ", more, ".");
    query.replaceChildren(...pieces(example.query));
    for (const [name, parts] of Object.entries(example.params))
      query.append(make("div", {}, `--param ${name}=`, ...pieces(parts)));
    const text = streams[example.stream];
    const [names, ...rows] = text.trimEnd().split("\n").map((line) => line.split(","));
    const file = make("a", { download: example.stream, href: `data:text/csv,${encodeURIComponent(text)}` }, "Save it");
    stream.replaceChildren(
      frame("Table of the events", table(`The stream ${example.stream}`, ["", ...names], rows.map((row, place) => [`${place}`, ...row]))),
      make("p", {}, file, " to run the command on it."));
    show();
  };

  picker.addEventListener("change", () => open(Number(picker.value)));

  // A link to a choice: #filter=0,1,2.
  const linked = () => {
    const [name, numbers = ""] = location.hash.slice(1).split("=");
    const at = examples.findIndex((one) => one.key === name);
    const known = at >= 0 && numbers in examples[at].answers;
    open(Math.max(at, 0), known ? numbers.split(",").map(Number) : []);
  };

  root.replaceChildren(
    make("p", {}, make("label", { for: "play-example" }, "Example "), picker),
    said, query, answers,
    make("p", {}, "In a shell:"), make("pre", {}, command), stream);
  window.addEventListener("hashchange", linked);
  linked();
})();
