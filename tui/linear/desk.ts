import { now } from '../../cli/clock.js';
import { inForeground } from '../../cli/foreground.js';
import { Unreachable } from '../../src/client/index.js';
import { environmentReadAloud } from '../environment.js';
import { onEnding } from '../exit.js';
import { greet } from '../state/greet.js';
import { type Knowledge, openKnowledge } from '../state/knowledge.js';
import type { DeskStore, State } from '../state/state.js';
import { Announcement } from './announcement.js';
import { openTelling } from './announcer.js';
import { obeyLine } from './dispatch.js';
import type { Linear, LinearEffects } from './linear.js';
import { openLines } from './lines.js';
import { openNeeds } from './needs.js';
import { openPaper } from './output.js';
import { announceMenu, announcePosition } from './readout.js';

export interface LinearOptions {
  url: string;
  token: string | undefined;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean };
  /** The program of the CLI and its first words. */
  program: readonly [string, ...string[]];
}

/** The size of the pages. Nothing is laid out, so a page has room for all its rows. */
const SIZE = { width: 100, height: 1000 };
/**
 * Ours: time for the daemon to reply at the start, in milliseconds; after that the desk announces
 * that there is no reply.
 */
const FIRST_MS = 5000;

/**
 * Runs the line-by-line desk, for users who have it read aloud, until the input ends, `quit` is
 * typed, or a signal arrives. Resolves to the exit code. Throws what the client throws if the
 * daemon refuses it at the start, or, without a terminal, if the daemon cannot be reached.
 */
export const openLinear = async (options: LinearOptions): Promise<number> => {
  const known = openKnowledge({ url: options.url, token: options.token, size: SIZE, now });
  const ending = createEnding();
  const desk = assemble(options, known, ending);
  const { lines, needs, telling, output } = desk;
  const stops = [needs.close, known.close, lines.close, telling.close, ending.close, output.end];
  try {
    return await Promise.race([ending.code, heard(known), talk(desk, options)]);
  } finally {
    for (const stop of stops) stop();
  }
};

/** Receives the events of the daemon. Never resolves; rejects with the error that ends it. */
const heard = (known: Knowledge): Promise<never> =>
  known.live.run().then(() => new Promise<never>(() => {}));

/**
 * Creates the promise of the exit code after a signal. It rejects after an error, and stays pending
 * if the user leaves the desk.
 */
const createEnding = () => {
  let fail = (_error: unknown): void => {};
  let close = (): void => {};
  const code = new Promise<number>((resolve, reject) => {
    fail = reject;
    close = onEnding(({ code, error }) => {
      if (error !== undefined) reject(error);
      else resolve(code);
    });
  });
  return {
    code,
    fail: (error: unknown) => fail(error),
    close: () => close(),
  };
};

type EndingOf = ReturnType<typeof createEnding>;

const assemble = (
  { url, stdin, stdout, program }: LinearOptions,
  known: Knowledge,
  { fail }: EndingOf,
): Linear => {
  const output = openPaper(stdout);
  const lines = openLines(stdin, now);
  const told = new Announcement();
  const telling = openTelling({ known, told, output, now, fail });
  const leave = (words: readonly string[]): Promise<void> =>
    lines.leave(async () => {
      const env = environmentReadAloud(url, known.held.get());
      await inForeground([...program, ...words], { env });
    });
  const outside: LinearEffects = { now, leave: stdin.isTTY && stdout.isTTY ? leave : null };
  return { known, needs: openNeeds(known, now), told, telling, output, lines, outside };
};

const talk = async (desk: Linear, { stdin }: LinearOptions): Promise<number> => {
  const { output, lines, telling } = desk;
  await letIn(desk.known, stdin.isTTY === true);
  await desk.needs.settled();
  announcePosition(desk);
  announceMenu(desk);
  telling.begin();
  for (;;) {
    output.prompt('> ');
    const typed = await lines.next();
    output.answered();
    if (typed === null || !(await obeyLine(desk, typed.text))) return 0;
  }
};

/**
 * Asks the daemon for its version and for the user. If the daemon cannot be reached, a terminal
 * waits for it; without a terminal the error is thrown.
 */
const letIn = async ({ client, store }: Knowledge, isPatient: boolean): Promise<void> => {
  try {
    const [{ version }, { username, role }] = await Promise.all([
      client.health.get(),
      client.auth.me(),
    ]);
    store.dispatch({ type: 'session.known', version, who: { username, role } });
    await connected(store);
  } catch (error) {
    if (!isPatient || !(error instanceof Unreachable)) throw error;
    const stop = store.subscribe(
      ({ session: { link } }) => link.is,
      (is) => {
        if (is !== 'live') return;
        stop();
        void greet(client, store);
      },
    );
  }
};

const connected = (store: DeskStore): Promise<void> =>
  new Promise((resolve) => {
    const isTried = ({ session: { link } }: State): boolean => link.is !== 'connecting';
    if (isTried(store.get())) return resolve();
    const timer = setTimeout(() => end(), FIRST_MS);
    const stop = store.subscribe(isTried, () => end());
    const end = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
  });
