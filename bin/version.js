// Imported first, for its effect: an older Node is refused in one line, before anything else loads.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Adjutant needs Node 20.19 or later; this is ${process.version}.`);
  process.exit(1);
}
