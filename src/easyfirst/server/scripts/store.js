// What stays in this browser: the work in progress, in its local storage, and the text in the address of a link. The
// part of an address after # is never sent to a server.

const PLACE = "easyfirst.workbench";
const BEFORE = "easyfirst.workbench.before"; // corrections that another text has replaced

// Save the work; return whether there was room for it.
function saveWork(work, place = PLACE) {
  try {
    localStorage.setItem(place, JSON.stringify({ version: 1, ...work }));
    return true;
  } catch {
    return false; // too much, or storage is switched off
  }
}

function savedWork(place = PLACE) {
  try {
    const work = JSON.parse(localStorage.getItem(place));
    return work?.version === 1 && Array.isArray(work.items) ? work : null;
  } catch {
    return null;
  }
}

function forgetWork(place = PLACE) {
  try {
    localStorage.removeItem(place);
  } catch {
    // there is nothing to forget
  }
}

// Keep the saved work, if somebody has corrected or accepted something, while other work takes its place.
function setWorkAside() {
  const work = savedWork();
  if (work?.items.some(({ known, done }) => known || done)) saveWork(work, BEFORE);
}

function linkTo(text, kind) {
  return `${location.origin}/#${new URLSearchParams({ kind, text })}`;
}

function linkedText() {
  const values = new URLSearchParams(location.hash.slice(1));
  return values.has("text") ? { text: values.get("text"), kind: values.get("kind") } : null;
}

// Whether a text is CoNLL-U: a line that begins with the number 1 and has ten columns.
function isConllu(text) {
  return /^1(-[0-9]+)?(\t[^\t\n]+){9}\r?$/m.test(text);
}

// Cut CoNLL-U into pieces of whole sentences, of about so many lines.
function cutConllu(text, nLines) {
  const pieces = [];
  let piece = [], size = 0;
  for (const block of text.replace(/\r\n/g, "\n").split(/\n{2,}/)) {
    if (block.trim() === "") continue;
    piece.push(block);
    size += block.split("\n").length;
    if (size >= nLines) {
      pieces.push(piece);
      [piece, size] = [[], 0];
    }
  }
  if (piece.length) pieces.push(piece);
  return pieces.map((blocks) => `${blocks.join("\n\n")}\n\n`);
}
