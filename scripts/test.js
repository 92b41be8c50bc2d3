import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, start } from './child.js';
import { prepare, root } from './prepare.js';
import { readReport } from './report.js';

const REPORT = join(root, '.test/junit.xml');
const LAB = join(root, 'node_modules/@hapi/lab/bin/lab');
/** No leak detection: libraries leak globals. Compiled tests alone are loaded, not what they use. */
const OPTIONS = ['--leaks', '--pattern', '\\.test'];
const LIMITS = ['--timeout', '30000', '--context-timeout', '60000'];
const REPORTERS = ['--reporter', 'console', '--output', 'stdout', '-r', 'junit', '-o', REPORT];
/** What the tests see of the environment; all else is left out or set to a known value. */
const KEPT = ['PATH', 'TERM', 'CI', 'NODE_OPTIONS', 'NODE_V8_COVERAGE'];

/**
 * Runs every test, or what the arguments choose: `npm test -- test/kernel -g 'refuses'`. A test
 * that cannot run here is skipped with the reason in its title, and listed at the end.
 */
const main = async () => {
  await prepare();
  rmSync(REPORT, { force: true });
  const scratch = mkdtempSync(join(tmpdir(), 'adjutant-test-'));
  try {
    const args = [LAB, ...OPTIONS, ...LIMITS, ...REPORTERS, ...chosen(process.argv.slice(2))];
    const env = environment(scratch);
    const code = await run(process.execPath, args, { cwd: root, stdio: 'inherit', env });
    process.exitCode = conclude(code);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

/** lab's arguments; a source path stands for what was built from it. */
const chosen = (args) => {
  const paths = args.map((arg) =>
    /^test\b/.test(arg) && existsSync(join(root, arg)) ? built(arg) : arg,
  );
  return paths.some((path, at) => path !== args[at]) ? paths : [...paths, 'dist/test'];
};

const built = (path) => join('dist', path.replace(/\.tsx?$/, '.js'));

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
    LANG: 'C.UTF-8',
    NODE_ENV: 'test',
    TZ: 'UTC',
  };
};

/** Prints the last lines and gives the exit code. What CI skips, nobody would ever run. */
const conclude = (labCode) => {
  const { passed, failed, skipped } = readReport(REPORT);
  for (const title of skipped) console.log(`skipped: ${title}`);
  const missed = process.env.CI === 'true' ? skipped.length : 0;
  const broken = failed + missed > 0 ? failed + missed : Number(labCode !== 0 || passed === 0);
  const note = skipped.length > missed ? `, ${skipped.length} skipped` : '';
  if (passed + failed === 0) console.log('No test ran.');
  console.log(`${passed} passed, ${broken} failed${note}`);
  return broken > 0 ? 1 : 0;
};

await start(main);
