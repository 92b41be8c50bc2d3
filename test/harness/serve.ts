import { loadDaemon } from '../../src/bundle.js';

const { runDaemon, StartRefused } = await loadDaemon();

/** The daemon as its own process, like `adjutant serve`, with settings from the environment. */
try {
  await runDaemon({}, (line) => console.log(line));
} catch (error) {
  if (!(error instanceof StartRefused)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
