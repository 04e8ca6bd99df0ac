// The worker of the page: loads Pyodide, NumPy and easyfirst, then parses texts. It keeps the page responsive, and
// sends what it finds after every few sentences, so that the page can show it and stop it.

let python; // what trees.py defines
let current = null; // the number of the text that is being parsed

const post = (type, facts = {}) => self.postMessage({ type, ...facts });

class LoadError extends Error {}

async function fetched(address) {
  let response;
  try {
    response = await fetch(address, { cache: "no-cache" }); // ask whether it has changed
  } catch (error) {
    throw new LoadError(`${address} cannot be fetched (${error.message}). Is the server running?`);
  }
  if (!response.ok) {
    throw new LoadError(`${address} cannot be fetched (status ${response.status}). Build the page again.`);
  }
  return response;
}

// Fetch a file and report how much of it is there.
async function download(address, report) {
  const response = await fetched(address);
  const total = Number(response.headers.get("Content-Length"));
  const parts = [];
  let received = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    received += value.length;
    report(received, total);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const megabytes = (n) => `${(n / 1e6).toFixed(1)} MB`;

async function loadPython(site) {
  const address = new URL(site.pyodide, self.location.href).href;
  let module;
  try {
    module = await import(`${address}pyodide.mjs`);
  } catch {
    throw new LoadError(
      `Pyodide cannot be loaded from ${address}. Check your connection, or build the page with a copy of Pyodide.`,
    );
  }
  const pyodide = await module.loadPyodide({ indexURL: address });
  post("progress", { text: "Loading NumPy …", share: 0.3 });
  const problems = [];
  await pyodide.loadPackage("numpy", { messageCallback: () => {}, errorCallback: (text) => problems.push(text) });
  if (problems.length) {
    throw new LoadError(`NumPy cannot be loaded from ${address} (${problems.join("; ")}).`);
  }
  return pyodide;
}

async function load() {
  post("progress", { text: "Loading Python …", share: 0.05 });
  const site = await (await fetched("site.json")).json();
  const [pyodide, program] = await Promise.all([loadPython(site), fetched("trees.py").then((file) => file.text())]);
  const wheel = await download(site.wheel, (received, total) => {
    const size = total ? `${megabytes(received)} of ${megabytes(total)}` : megabytes(received);
    post("progress", { text: `Loading easyfirst (${size}) …`, share: 0.4 + (total ? (0.3 * received) / total : 0) });
  });
  post("progress", { text: "Installing easyfirst …", share: 0.75 });
  const [place] = pyodide.runPython("import site; site.getsitepackages()").toJs();
  pyodide.unpackArchive(wheel, "wheel", { extractDir: place });
  pyodide.runPython("import importlib; importlib.invalidate_caches()");
  post("progress", { text: "Loading the model …", share: 0.85 });
  const names = pyodide.toPy({ __name__: "trees" });
  pyodide.runPython(program, { globals: names, filename: "trees.py" });
  python = { look: names.get("look"), parse: names.get("parse") };
  post("ready", { ...JSON.parse(python.look()), python: pyodide.version });
}

// Parse a text until it is done or the page has asked for something else. Messages are received between the steps.
async function parse(number, text, width) {
  current = number;
  const messages = python.parse(text, width);
  try {
    while (current === number) {
      const { done, value } = messages.next();
      if (done) break;
      self.postMessage({ ...JSON.parse(value), number });
      await new Promise((resolve) => setTimeout(resolve));
    }
  } finally {
    messages.destroy();
  }
}

// The last line of a traceback of Python says what happened.
const summary = (error) => {
  const message = String(error.message ?? error).trim();
  return error instanceof LoadError ? message : message.split("\n").at(-1);
};

self.onmessage = ({ data }) => {
  if (data.type === "stop") {
    current = null;
  } else {
    parse(data.number, data.text, data.width).catch((error) => {
      console.error(error);
      post("error", { number: data.number, message: `The text cannot be parsed: ${summary(error)}` });
    });
  }
};

load().catch((error) => {
  console.error(error);
  post("failed", { message: `The parser cannot be loaded. ${summary(error)}` });
});
