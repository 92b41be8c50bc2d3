import { inForeground } from '../../cli/foreground.js';
import { Unreachable } from '../../src/client/index.js';
import { systemClock as clock } from '../../src/kernel/clock.js';
import { environmentFor } from '../environment.js';
import { onProcessEnd } from '../exit.js';
import { loadAccount } from '../state/bootstrap.js';
import { type DeskState, openDeskState } from '../state/deskstate.js';
import { waitForState } from '../state/store.js';
import { Announcement } from './announcement.js';
import { openAnnouncer } from './announcer.js';
import { dispatchLine } from './dispatch.js';
import type { Linear } from './linear.js';
import { openLines } from './lines.js';
import { openNeeds } from './needs.js';
import { openOutput } from './output.js';
import { announceMenu, announcePosition } from './readout.js';

export interface LinearOptions {
  url: string;
  token: string | undefined;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean };
  program: readonly [string, ...string[]];
}

/** Nothing is laid out, so a page has room for all its rows. */
const SIZE = { width: 100, height: 1000 };
/**
 * Time for the daemon to reply at the start, in milliseconds. After that the desk announces that
 * there is no reply.
 */
const FIRST_MS = 5000;

/**
 * Runs the line-by-line desk until the input ends, `quit` is typed, or a signal arrives. Resolves
 * to the exit code. Throws client errors if the daemon refuses it at the start, or, without a
 * terminal, if it cannot be reached.
 */
export const openLinear = async (options: LinearOptions): Promise<number> => {
  const known = openDeskState({ url: options.url, token: options.token, size: SIZE, clock });
  const ending = createEnding();
  const desk = assemble(options, known, ending.fail);
  const { lines, needs, announcer, output } = desk;
  const stops = [needs.close, known.close, lines.close, announcer.close, ending.close, output.end];
  try {
    return await Promise.race([ending.code, heard(known), talk(desk, options)]);
  } finally {
    for (const stop of stops) stop();
  }
};

/** Receives the events of the daemon. Never resolves; rejects with the error that ends it. */
const heard = (known: DeskState): Promise<never> =>
  known.run().then(() => new Promise<never>(() => {}));

/**
 * Promise of the exit code after a signal. Rejects after an error. Stays pending if the user leaves
 * the desk.
 */
const createEnding = () => {
  let fail = (_error: unknown): void => {};
  let close = (): void => {};
  const code = new Promise<number>((resolve, reject) => {
    fail = reject;
    close = onProcessEnd(({ code, error }) => {
      if (error !== undefined) reject(error);
      else resolve(code);
    });
  });
  return { code, fail, close };
};

const assemble = (
  { url, stdin, stdout, program }: LinearOptions,
  known: DeskState,
  fail: (error: unknown) => void,
): Linear => {
  const output = openOutput(stdout);
  const lines = openLines(stdin, clock.now);
  const announcement = new Announcement();
  const announcer = openAnnouncer({ known, announcement, output, fail });
  const leave = (words: readonly string[]): Promise<void> =>
    lines.leave(async () => {
      // The command's output is read aloud too.
      const env = { ...environmentFor(url, known.token()), ADJUTANT_ACCESSIBLE: '1' };
      await inForeground([...program, ...words], { env });
    });
  const isTerminal = stdin.isTTY && stdout.isTTY;
  const needs = openNeeds(known);
  return { known, needs, announcement, announcer, output, lines, leave: isTerminal ? leave : null };
};

const talk = async (desk: Linear, { stdin }: LinearOptions): Promise<number> => {
  const { output, lines, announcer } = desk;
  await letIn(desk.known, stdin.isTTY === true);
  await desk.needs.settled();
  announcePosition(desk);
  announceMenu(desk);
  announcer.begin();
  for (;;) {
    output.prompt('> ');
    const typed = await lines.next();
    output.answered();
    if (typed === null || !(await dispatchLine(desk, typed.text))) return 0;
  }
};

/**
 * Asks the daemon for its version and the user. On a terminal an unreachable daemon is waited for;
 * without a terminal the error is thrown.
 */
const letIn = async ({ client, store }: DeskState, isPatient: boolean): Promise<void> => {
  try {
    const [{ version }, { username, role }] = await Promise.all([
      client.health.get(),
      client.auth.me(),
    ]);
    store.dispatch({ type: 'session.known', version, who: { username, role } });
    await waitForState(store, ({ session: { link } }) => link.is !== 'connecting', {
      mostMs: FIRST_MS,
      clock,
    });
  } catch (error) {
    if (!isPatient || !(error instanceof Unreachable)) throw error;
    const stop = store.subscribe(
      ({ session: { link } }) => link.is,
      (is) => {
        if (is !== 'live') return;
        stop();
        void loadAccount(client, store);
      },
    );
  }
};
