// Files to download, made in the browser from what the server returns.

function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// Return a PNG of an SVG picture, twice as fine as the screen.
async function toPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = make("canvas", { width: 2 * image.naturalWidth, height: 2 * image.naturalHeight });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// Return a menu of the formats of one sentence. `fetchAs(format)` returns the sentence as "conllu", "svg" or "latex".
function downloadMenu(name, fetchAs, say) {
  const formats = {
    "CoNLL-U": async () => download(`${name}.conllu`, await fetchAs("conllu"), "text/plain"),
    SVG: async () => download(`${name}.svg`, await fetchAs("svg"), "image/svg+xml"),
    PNG: async () => download(`${name}.png`, await toPng(await fetchAs("svg"))),
    LaTeX: async () => download(`${name}.tex`, await fetchAs("latex"), "text/plain"),
  };
  const menu = make("details", { class: "menu" }, make("summary", {}, "Download"));
  for (const [format, act] of Object.entries(formats)) {
    menu.append(button(format, () => act().then(() => say(`${format} was downloaded.`), (error) => say(error.message))));
  }
  return menu;
}
