// A browser starts no worker for a page that it has opened from a disk, and the search of the site runs in one.
// There the script of the worker runs in a hidden frame instead, with the two calls that the search makes.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.said = (data) => this.onmessage && this.onmessage({ data });
      const script = new URL(address, document.baseURI).href.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
      frame.srcdoc =
        "<script>self.postMessage = (data) => setTimeout(() => frameElement.said(data));</script>" +
        `<script src="${script}"></script>`;
      this.started = new Promise((go) => frame.addEventListener("load", go, { once: true }));
      this.frame = frame;
      document.documentElement.append(frame);
    }

    postMessage(data) {
      this.started.then(() => this.frame.contentWindow.onmessage({ data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
