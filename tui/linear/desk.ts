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
  /** The CLI: a program and its first words. */
  program: readonly [string, ...string[]];
}

/** Nothing is laid out: pages have room for all that they hold. */
const SIZE = { width: 100, height: 1000 };
/** Ours: for the daemon to answer at the start; then it is told that it does not. */
const FIRST_MS = 5000;

/**
 * The desk line by line, for who hears it: until the input ends, `quit`, or a signal; to the exit
 * code. Throws what the client throws where it is not let in at the start.
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

/** Only what is thrown ends it. */
const heard = (known: Knowledge): Promise<never> =>
  known.live.run().then(() => new Promise<never>(() => {}));

/** How it ends, but by the person's own word. */
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

/** Who one is; a terminal waits for a daemon that is not there, a script does not. */
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
