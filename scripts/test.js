import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, start } from './child.js';
import { prepare, root } from './prepare.js';
import { readReport } from './report.js';
import { select, testFiles } from './selection.js';

const REPORTS = join(root, '.test/reports');
const LAB = join(root, 'node_modules/@hapi/lab/bin/lab');
/** No leak detection: libraries leak globals. Compiled tests alone are loaded, not what they use. */
const OPTIONS = ['--leaks', '--pattern', '\\.test'];
const LIMITS = ['--timeout', '60000', '--context-timeout', '120000'];
const REPORTERS = ['--reporter', 'console', '--output', 'stdout', '-r', 'junit', '-o'];
/** One more than there are cores, since tests wait for two fifths of their time. */
const LANES = Math.min(availableParallelism() + 1, 4);
/** In files. Each batch loads the daemon's code anew, for one to two seconds. */
const SMALLEST_BATCH = 6;
/** The slowest, half a minute or more each: they begin first, so that no lane waits for one. */
const LONG = [
  ...['accounts/totp/attempts', 'accounts/auth/sharedaddress', 'faults/backupfile', 'faults/kills'],
  ...['faults/outbox', 'faults/rekey', 'faults/backup', 'secrets/rekey', 'generated/audit'],
  ...['cli/verbs', 'cli/descriptors', 'tui/walk', 'tui/rush'],
  ...['recurring/years', 'recurring/minutes'],
].map((name) => `${name}.test.js`);
/** What they assert was promised of a machine that does nothing else: they run by themselves, last. */
const ALONE = [
  ...['faults/flood', 'faults/sendrates', 'faults/stop', 'generated/firsts', 'generated/fuzz'],
  ...['hooks/receivers/large', 'http/slow', 'tui/live'],
].map((name) => `${name}.test.js`);
/** What the tests see of the environment; all else is left out or set to a known value. */
const KEPT = [...['PATH', 'CI', 'NODE_OPTIONS', 'NODE_V8_COVERAGE'], ...['RUSH_SECONDS', 'FRAMES']];

/**
 * Runs every test, or what the arguments choose: `npm test -- hooks`, `npm test -- test/kernel -g
 * 'refuses'`. A test that cannot run here is skipped with the reason in its title, and listed at
 * the end.
 */
const main = async () => {
  await prepare();
  const { batches, last } = planned(process.argv.slice(2));
  rmSync(REPORTS, { recursive: true, force: true });
  mkdirSync(REPORTS, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'adjutant-test-'));
  const since = performance.now();
  try {
    const codes = await runAll(batches, scratch);
    if (last.length > 0) codes.push(await runBatch(batches.length, last, { scratch, shown: true }));
    console.log(`the tests took ${Math.round((performance.now() - since) / 1000)} s`);
    const reports = codes.map((_, batch) => readReport(reportOf(batch)));
    process.exitCode = conclude(reports, codes);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

/**
 * The words of each run of lab: `batches` run side by side, `last` by itself after them. Options
 * are lab's, and may leave out every test of a batch: with them all is one batch.
 */
const planned = (args) => {
  const all = testFiles(root);
  const { options, files } = select(args, { root, files: all });
  for (const file of files ?? []) console.log(`running ${sourceOf(file)}`);
  const chosen = files ?? all;
  if (options.length > 0) return { batches: [[...options, ...chosen.map(inTests)]], last: [] };
  const last = chosen.filter((path) => ALONE.includes(path)).map(inTests);
  return { batches: batchesOf(chosen.filter((path) => !ALONE.includes(path))), last };
};

/**
 * Splits the files into batches, each of which is a process. They grow smaller, so that the lanes
 * end together, and neighbours, which take alike, are in different ones.
 */
const batchesOf = (files) => {
  const long = LONG.filter((path) => files.includes(path));
  const rest = dealt(files.filter((path) => !long.includes(path)));
  const batches = long.map((path) => [path]);
  while (rest.length > 0) {
    batches.push(rest.splice(0, Math.max(SMALLEST_BATCH, Math.ceil(rest.length / LANES / 2))));
  }
  return batches.map((batch) => batch.map(inTests));
};

/** The files in another order: every seventeenth, from each start in turn. */
const dealt = (files) =>
  Array.from({ length: 17 }, (_, start) => files.filter((_, at) => at % 17 === start)).flat();

/** Runs the batches in lanes: each lane takes the next one as soon as it is free. */
const runAll = async (batches, scratch) => {
  const codes = [];
  let next = 0;
  const lane = async () => {
    while (next < batches.length) {
      const batch = next++;
      const shown = batches.length === 1;
      codes[batch] = await runBatch(batch, batches[batch], { scratch, shown });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return codes;
};

const sourceOf = (file) => {
  const path = `test/${file.replace(/\.js$/, '.ts')}`;
  return existsSync(join(root, path)) ? path : `${path}x`;
};

const inTests = (path) => join('dist/test', path);

const reportOf = (batch) => join(REPORTS, `${batch}.xml`);

/** Shows what lab prints as it comes, or else when the batch has ended. Gives the exit code. */
const runBatch = async (batch, words, { scratch, shown }) => {
  const folder = join(scratch, String(batch));
  mkdirSync(folder);
  const args = [LAB, ...OPTIONS, ...LIMITS, ...REPORTERS, reportOf(batch), ...words];
  const options = { cwd: root, env: environment(folder) };
  if (shown) return run(process.execPath, args, { ...options, stdio: 'inherit' });
  const path = join(folder, 'output');
  const output = openSync(path, 'w');
  const code = await run(process.execPath, args, { ...options, stdio: ['ignore', output, output] });
  closeSync(output);
  process.stdout.write(readFileSync(path));
  return code;
};

const environment = (scratch) => {
  const folder = (name) => {
    const path = join(scratch, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  return {
    ...Object.fromEntries(
      KEPT.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
    ),
    HOME: folder('home'),
    XDG_CONFIG_HOME: folder('config'),
    XDG_DATA_HOME: folder('data'),
    XDG_STATE_HOME: folder('state'),
    XDG_CACHE_HOME: folder('cache'),
    XDG_RUNTIME_DIR: folder('run'),
    TMPDIR: folder('tmp'),
    // A dumb one is read aloud, and then the CLI writes otherwise.
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    NODE_ENV: 'test',
    TZ: 'UTC',
  };
};

/** Prints the last lines and gives the exit code. What CI skips, nobody would ever run. */
const conclude = (reports, codes) => {
  const sum = (key) => reports.reduce((total, report) => total + report[key], 0);
  const skipped = reports.flatMap((report) => report.skipped);
  for (const title of skipped) console.log(`skipped: ${title}`);
  for (const failure of reports.flatMap((report) => report.failures)) {
    console.log(`failed: ${failure}`);
  }
  const [passed, failed] = [sum('passed'), sum('failed')];
  const missed = process.env.CI === 'true' ? skipped.length : 0;
  const died = reports.filter(({ cases }, batch) => cases === 0 || codes[batch] !== 0).length;
  const broken = failed + missed > 0 ? failed + missed : died;
  const note = skipped.length > missed ? `, ${skipped.length} skipped` : '';
  if (passed + failed === 0) console.log('No test ran.');
  console.log(`${passed} passed, ${broken} failed${note}`);
  return broken > 0 ? 1 : 0;
};

await start(main);
