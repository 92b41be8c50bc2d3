import { PassThrough } from 'node:stream';
import { systemClock as clock } from '../../src/kernel/clock.js';
import { dispatchKey } from '../../tui/control/dispatch.js';
import { hintsView, messageView } from '../../tui/frame/bars.js';
import { sheetView } from '../../tui/frame/sheets.js';
import { openLinear } from '../../tui/linear/desk.js';
import { screenPage } from '../../tui/screens.js';
import { loadAccount } from '../../tui/state/bootstrap.js';
import { openDeskState } from '../../tui/state/deskstate.js';
import { createNeedHolder } from '../../tui/state/needs.js';
import type { State } from '../../tui/state/state.js';
import { until } from '../harness/app.js';
import { shown } from './fixtures.js';

interface LiveDeskOptions {
  url: string;
  token: string;
}

const SIZE = { width: 100, height: 30 };

/** The desk on a real daemon, without a terminal. */
export const openLiveDesk = async ({ url, token }: LiveDeskOptions) => {
  const known = openDeskState({ url, token, size: SIZE, clock });
  const { store } = known;
  /** Commands that left the desk. */
  const left: string[] = [];
  const nothing = () => {};
  const outside = {
    leave: async (words: readonly string[]) => void left.push(words.join(' ')),
    write: async () => ({ is: 'refused' as const, reason: 'no editor' }),
    print: async () => {},
    ...{ copy: nothing, redraw: nothing, suspend: nothing, quit: nothing },
  };
  const hold = createNeedHolder(known);
  const needsIn = (state: State) => screenPage(state).needs(state);
  hold(needsIn(store.get()));
  store.subscribe(
    (state) => JSON.stringify(needsIn(state)),
    () => queueMicrotask(() => hold(needsIn(store.get()))),
  );
  const ended = known.run();
  await loadAccount(known.client, store);
  const frame = (): string => {
    const state = store.get();
    return [screenPage(state).view, sheetView, messageView, hintsView]
      .flatMap((view) => shown(view, state, SIZE.width, SIZE.height))
      .join('\n');
  };
  const press = (...keys: string[]): void => {
    for (const key of keys) {
      dispatchKey({ ...known, outside, keptName: null }, { type: 'key', key, isBurst: false });
    }
  };
  return {
    left,
    press,
    frame,
    types: (text: string): void => press(...text, 'enter'),
    /** Resolves to the screen once it has the text. */
    sees: (text: string): Promise<string> =>
      until(
        async () => frame(),
        (seen) => seen.includes(text),
      ),
    close: async (): Promise<void> => {
      hold([]);
      known.close();
      await ended;
    },
  };
};

export type LiveDesk = Awaited<ReturnType<typeof openLiveDesk>>;

/** The line-by-line desk on a real daemon, without a terminal. */
export const openLinearDesk = ({ url, token }: LiveDeskOptions) => {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  let said = '';
  stdout.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
  });
  const ended = openLinear({ url, token, stdin, stdout, program: ['false'] });
  const hears = (text: string): Promise<string> =>
    until(
      async () => said,
      (all) => all.includes(text),
    );
  return {
    hears,
    /** Types lines. Resolves to the output since then, once it has the text. */
    answers: (lines: string, text: string): Promise<string> => {
      said = '';
      stdin.write(`${lines}\n`);
      return hears(text);
    },
    close: async (): Promise<void> => {
      stdin.end();
      await ended;
    },
  };
};
