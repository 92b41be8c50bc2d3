import childProcess from 'node:child_process';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import threads from 'node:worker_threads';
import Lab from '@hapi/lab';
import { ReusedWorker } from './lanethreads.js';

/** Beside other work a test takes several times as long. lanes.js ends a file that hangs. */
const NO_LIMITS = { timeout: 0, 'context-timeout': 0 };

/**
 * The bundle of a thread or process of the daemon, which loads in half the time and is what users
 * run; any other script as it is.
 */
const bundleOf = (script) => {
  const [, path] = /\/dist\/src\/(.+)\.js$/.exec(String(script)) ?? [];
  const bundle = new URL(`../dist/daemon/${path?.replaceAll('/', '-')}/main.js`, import.meta.url);
  return path !== undefined && existsSync(bundle) ? bundle : script;
};

const isDatabase = (script) => /\/dist\/src\/store\/thread\/thread\.js$/.test(String(script));

const { Worker } = threads;
threads.Worker = new Proxy(Worker, {
  construct: (_, [script, options]) => {
    const Made = isDatabase(script) ? ReusedWorker : Worker;
    return new Made(bundleOf(script), options);
  },
});
const { fork } = childProcess;
childProcess.fork = (script, ...rest) => {
  const bundle = bundleOf(script);
  return fork(bundle instanceof URL ? fileURLToPath(bundle) : bundle, ...rest);
};
syncBuiltinESMExports();

/**
 * A long-lived process that runs one test file at a time and keeps all modules loaded between them.
 * Receives `{ path, grep }`. Sends `{ title, ms, error?, skipped? }` for each test, then
 * `{ end: true, errors, ms, loadMs, residentBytes }`.
 */
const run = async ({ path, grep }) => {
  const began = performance.now();
  const { lab } = await import(pathToFileURL(path).href);
  if (!lab) throw new Error(`${path} exports no lab`);
  const loadMs = performance.now() - began;
  const reporter = { start: () => undefined, test: report };
  const options = { ...NO_LIMITS, environment: 'test', ...(grep !== undefined && { grep }) };
  const { errors } = await Lab.execute([lab], options, reporter);
  return { errors: errors.map(describe), ms: performance.now() - began, loadMs };
};

/**
 * lab reports a failed test in three ways: with an error, by a failed hook, or by never running
 * it.
 */
const report = ({ title, duration, err, skipped, todo }) =>
  process.send({
    title,
    ms: duration ?? 0,
    ...(err && { error: err === true ? 'a hook failed' : describe(err) }),
    ...((skipped || todo) && { skipped: true }),
  });

const describe = (error) =>
  String(error?.stack?.includes(error?.message) ? error.stack : (error?.message ?? error));

process.on('message', async (message) => {
  try {
    const result = await run(message);
    process.send({ end: true, ...result, residentBytes: process.memoryUsage.rss() });
  } catch (error) {
    process.send({ end: true, errors: [describe(error)], ms: 0, loadMs: 0, residentBytes: 0 });
  }
});
process.send({ ready: true });
