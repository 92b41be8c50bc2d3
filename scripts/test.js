import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { start } from './child.js';
import { runInLanes } from './lanes.js';
import { prepare, root } from './prepare.js';
import { select, testFiles } from './selection.js';

const TIMES = join(root, 'scripts/times.json');
/** One JSON line per test of the last run: file, title, ms, error. */
const REPORT = join(root, '.test/tests.jsonl');
/** One more than there are cores, because tests spend two fifths of their time waiting. */
const LANES = Math.min(availableParallelism() + 1, 4);
const MAX_UNSTEADY = 3;
const SLOWEST_SHOWN = 20;
/**
 * Tests that must not fail even once: durability, effects that happen once, isolation, access,
 * secrets, the audit log.
 */
const SAFETY_FILES = /^(faults|generated|secrets|vault|store)\//;
const SAFETY_TITLES = new RegExp(
  [
    '\\b(lost|loses|twice|never|leaks?|secrets?|canar|integrity|durable|audit|tamper)',
    '\\b(strangers?|another user|isolat|without a (token|login|right))',
    // "at once" and "once it is …" say when, not how often.
    '(?<!\\bat )\\bonce\\b(?! (an?|all|it|its|nobody|that|the|they)\\b)',
  ].join('|'),
  'i',
);

/**
 * Runs the tests of one tier, or those that the arguments select: `npm test -- hooks`, `npm test
 * -- test/kernel -g 'refuses'`, `npm run test:long`. A test that cannot run here is skipped with
 * the reason in its title, and listed at the end. A failed file runs once more alone; if it
 * passes, it is reported as unsteady. Safety tests get no second try.
 */
const main = async () => {
  await prepare();
  const { tier, record, options, words } = parse(process.argv.slice(2));
  const chosen = select(words, { root, tier });
  if (words.length > 0) for (const file of chosen) console.log(`running ${sourceOf(file)}`);
  const times = readTimes();
  const byTime = (one, other) => (times[other] ?? Infinity) - (times[one] ?? Infinity) || 0;
  const queue = [...chosen].sort(byTime);

  rmSync(REPORT, { force: true });
  mkdirSync(dirname(REPORT), { recursive: true });
  const began = performance.now();
  const outcomes = [];
  const isVerbose = chosen.length <= SLOWEST_SHOWN;
  const setup = { root, times, grep: options.grep };
  const onEnd = (outcome) => {
    outcomes.push(outcome);
    writeReport(outcome);
    show(outcome, { isVerbose });
  };
  // Measurements run one at a time.
  await runInLanes(queue, { ...setup, lanes: tier === 'speed' ? 1 : LANES, onEnd });

  const unsteady = [];
  for (const [at, outcome] of outcomes.entries()) {
    if (tier === 'speed' || failuresOf(outcome).length === 0 || isSafety(outcome)) continue;
    console.log(`again: ${sourceOf(outcome.file)}`);
    await runInLanes([outcome.file], {
      ...setup,
      lanes: 1,
      onEnd: (second) => {
        show(second, { isVerbose: true });
        if (failuresOf(second).length > 0) return;
        unsteady.push(outcome);
        outcomes[at] = second;
      },
    });
  }
  if (record) writeTimes(times, outcomes);
  if (!isVerbose) showTimes(outcomes);
  console.log(`the tests took ${Math.round((performance.now() - began) / 1000)} s`);
  process.exitCode = conclude(outcomes, unsteady);
};

const parse = (args) => {
  const words = [];
  const options = {};
  let [tier, record] = ['fast', false];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === '--record') record = true;
    else if (word === '--tier') tier = args[++at];
    else if (word === '-g' || word === '--grep') options.grep = args[++at];
    else if (word.startsWith('-'))
      throw new Error(`unknown option ${word}: use -g <title>, --tier <name> or --record`);
    else words.push(word);
  }
  return { tier, record, options, words };
};

const sourceOf = (file) => {
  const path = `test/${file.replace(/\.js$/, '.ts')}`;
  return existsSync(join(root, path)) ? path : `${path}x`;
};

const readTimes = () => (existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {});

/** Recorded in tenths of a second, so that a new record changes few lines. */
const writeTimes = (times, outcomes) => {
  const next = { ...times };
  for (const { file, ms, crashed } of outcomes) {
    if (!crashed) next[file] = Math.round(ms / 100) * 100;
  }
  const files = new Set(testFiles(root));
  const kept = Object.entries(next).filter(([file]) => files.has(file));
  writeFileSync(TIMES, `${JSON.stringify(Object.fromEntries(kept.sort()), null, 2)}\n`);
};

const writeReport = ({ file, tests }) =>
  appendFileSync(REPORT, tests.map((test) => `${JSON.stringify({ file, ...test })}\n`).join(''));

/** The title and error of each failure. Errors of hooks belong to the file. */
const failuresOf = ({ file, tests, errors }) => [
  ...tests.filter(({ error }) => error).map(({ title, error }) => ({ title, error })),
  ...errors.map((error) => ({ title: sourceOf(file), error })),
];

const isSafety = (outcome) =>
  SAFETY_FILES.test(outcome.file) ||
  failuresOf(outcome).some(({ title }) => SAFETY_TITLES.test(title));

const show = (outcome, { isVerbose }) => {
  const failures = failuresOf(outcome);
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
  if (isVerbose) {
    for (const { title, ms, error, skipped } of outcome.tests) {
      console.log(`${error ? '✗' : skipped ? '-' : '✓'} ${title} (${Math.round(ms)} ms)`);
    }
  }
  const mark = failures.length > 0 ? 'FAILED' : 'ok';
  console.log(
    `${mark} ${sourceOf(outcome.file)} (${outcome.tests.length} tests, ${seconds(outcome.ms)})`,
  );
  for (const { title, error } of failures) console.log(`  ${title}\n${indent(error)}`);
  if (failures.length > 0 || isVerbose) process.stdout.write(outcome.output);
};

const indent = (text) => text.replace(/^/gm, '    ');

const showTimes = (outcomes) => {
  const sum = (key) => Math.round(outcomes.reduce((total, each) => total + each[key], 0) / 1000);
  const inTests = outcomes.reduce(
    (total, { tests }) => total + tests.reduce((ms, test) => ms + test.ms, 0),
    0,
  );
  console.log(
    `in all lanes: ${sum('ms')} s, of which tests ${Math.round(inTests / 1000)} s, loading ${sum('loadMs')} s, hooks the rest`,
  );
  const slowest = [...outcomes].sort((one, other) => other.ms - one.ms).slice(0, SLOWEST_SHOWN);
  for (const { file, ms } of slowest) console.log(`${(ms / 1000).toFixed(1)} s  ${sourceOf(file)}`);
};

/** Maximum characters of a message to repeat. */
const MESSAGE_LENGTH = 300;
const firstLine = (error) =>
  error
    .replace(/^(\w*Error): /, '')
    .split(/\n\s+at /)[0]
    .replace(/\s+/g, ' ')
    .slice(0, MESSAGE_LENGTH);

/**
 * Prints the last lines and returns the exit code. In CI skipped tests count as failures, because
 * nobody else would run them.
 */
const conclude = (outcomes, unsteady) => {
  const tests = outcomes.flatMap((outcome) => outcome.tests);
  const skipped = tests.filter((test) => test.skipped).map(({ title }) => title);
  const passed = tests.filter((test) => !test.error && !test.skipped).length;
  const failures = outcomes.flatMap(failuresOf);
  for (const title of skipped) console.log(`skipped: ${title}`);
  for (const { title, error } of failures) console.log(`failed: ${title}: ${firstLine(error)}`);
  for (const outcome of unsteady) {
    for (const { title, error } of failuresOf(outcome)) {
      console.log(`unsteady: ${sourceOf(outcome.file)}: ${title}: ${firstLine(error)}`);
    }
  }
  const missed = process.env.CI === 'true' ? skipped.length : 0;
  const isTooUnsteady = unsteady.length > MAX_UNSTEADY;
  if (isTooUnsteady) console.log(`more than ${MAX_UNSTEADY} files are unsteady`);
  const nothing = passed + failures.length === 0;
  if (nothing) console.log('No tests ran.');
  const failed =
    failures.length + missed + (isTooUnsteady ? unsteady.length : 0) + (nothing ? 1 : 0);
  const note = skipped.length > missed ? `, ${skipped.length} skipped` : '';
  console.log(`${passed} passed, ${failed} failed${note}`);
  return failed > 0 ? 1 : 0;
};

await start(main);
