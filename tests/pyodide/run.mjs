// Run program.py under Pyodide: node run.mjs DIRECTORY_OF_PYODIDE WHEEL PROGRAM < input > output
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [directory, wheel, program] = process.argv.slice(2).map((name) => resolve(name));
try {
  const { loadPyodide } = await import(pathToFileURL(`${directory}/pyodide.mjs`));
  const pyodide = await loadPyodide({ indexURL: directory });
  await pyodide.loadPackage("numpy", { messageCallback: () => {} });
  const [place] = pyodide.runPython("import site; site.getsitepackages()").toJs();
  pyodide.unpackArchive(new Uint8Array(readFileSync(wheel)), "wheel", { extractDir: place });
  const names = pyodide.toPy({ __name__: "program" });
  pyodide.runPython(readFileSync(program, "utf8"), { globals: names, filename: program });
  process.stdout.write(names.get("results")(readFileSync(0, "utf8")));
} catch (error) {
  console.error(error.message); // Node would print the line of the script, which has a million characters
  process.exitCode = 1;
}
