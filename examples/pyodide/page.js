// The page: a text goes to the worker, and what comes back is shown.
"use strict";
const by = (id) => document.getElementById(id);
const [form, text, button, stop, download] = ["form", "text", "parse", "stop", "download"].map(by);
const [status, problem, progress, trees] = ["status", "problem", "progress", "trees"].map(by);

const worker = new Worker("worker.js", { type: "module" });
let isReady = false;
let number = 0; // of the text that was sent last
let isWaiting = false; // a text is to be parsed as soon as the parser is ready
let found = null; // what the worker said about the text
let script = ""; // of the sliders
let address = null; // of the CoNLL-U

const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

function say(message, share = null) {
  status.textContent = message;
  progress.hidden = share === null;
  if (share !== null) progress.value = share;
}

function complain(message) {
  problem.textContent = message;
  problem.hidden = !message;
}

function setBusy(isBusy) {
  stop.hidden = !isBusy;
  trees.setAttribute("aria-busy", String(isBusy));
}

function send() {
  if (!isReady) {
    isWaiting = true;
    return;
  }
  number += 1;
  found = null;
  complain("");
  trees.replaceChildren();
  download.hidden = true;
  setBusy(true);
  say("Finding words and sentences …", 0);
  worker.postMessage({ type: "parse", number, text: text.value, width: Math.floor(trees.clientWidth) });
}

// The script steps through the sections that are on the page when it runs, so it runs again for new ones. Those that it
// has seen lose their mark.
function addTrees(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const sections = [...template.content.children];
  trees.append(template.content);
  const run = document.createElement("script");
  run.textContent = script;
  document.body.append(run);
  run.remove();
  for (const section of sections) section.removeAttribute("data-steps");
}

function offer(conllu) {
  if (address) URL.revokeObjectURL(address);
  address = URL.createObjectURL(new Blob([conllu], { type: "text/plain;charset=utf-8" }));
  download.href = address;
  download.hidden = false;
}

const handlers = {
  progress: ({ text: message, share }) => say(message, share),
  ready: (look) => {
    isReady = true;
    script = look.script;
    const style = document.createElement("style");
    style.textContent = look.style;
    document.head.prepend(style);
    by("versions").textContent = `easyfirst ${look.version}, Pyodide ${look.python}`;
    say("Ready.");
    if (isWaiting) send();
  },
  failed: ({ message }) => {
    say("");
    complain(message);
    button.disabled = true;
  },
  found: (facts) => {
    found = facts;
    complain(facts.warning);
    say(`Parsing ${count(facts.sentences, "sentence")} …`, 0);
  },
  trees: ({ html, sentences }) => {
    addTrees(html);
    say(`${sentences} of ${count(found.sentences, "sentence")} …`, sentences / found.sentences);
  },
  done: ({ conllu }) => {
    setBusy(false);
    if (!found.sentences) {
      say("The text has no words.");
      return;
    }
    say(`${count(found.sentences, "sentence")}, ${count(found.words, "word")}.`);
    offer(conllu);
  },
  error: ({ message }) => {
    setBusy(false);
    say("");
    complain(message);
  },
};

worker.onmessage = ({ data }) => {
  if (data.number === undefined || data.number === number) handlers[data.type](data);
};
worker.onerror = ({ message }) => {
  handlers.failed({ message: `The worker failed: ${message ?? "it cannot be loaded"}.` });
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    send();
  }
});
stop.addEventListener("click", () => {
  worker.postMessage({ type: "stop" });
  number += 1; // what is still on its way is not shown
  setBusy(false);
  say("Stopped.");
});
