/** An event as the engines on the JVM read it. */
public class Event {
    public long ts;
    public String type;
    public long key;
    public double price;

    public Event() {}

    public Event(long ts, String type, long key, double price) {
        this.ts = ts;
        this.type = type;
        this.key = key;
        this.price = price;
    }

    public long getTs() {
        return ts;
    }

    public String getType() {
        return type;
    }

    public long getKey() {
        return key;
    }

    public double getPrice() {
        return price;
    }
}
