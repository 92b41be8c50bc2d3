import { now } from '../cli/clock.js';
import { ringOnApproval } from './bell.js';
import type { Controller, ControllerEffects } from './control/controller.js';
import { obeyKey } from './control/dispatch.js';
import { askAtStart } from './control/login.js';
import { environmentFor, given } from './environment.js';
import { onEnding, type TerminalExit } from './exit.js';
import { cursorOf } from './frame/bars.js';
import { type InputEvent, readKeys } from './input.js';
import { Painter } from './painter.js';
import type { Size } from './parts/row.js';
import { greet } from './state/greet.js';
import { type Knowledge, openKnowledge } from './state/knowledge.js';
import { logInToDaemon } from './state/login.js';
import type { DeskStore } from './state/state.js';
import { createTerminal, type Terminal, type Tty } from './terminal.js';
import { backgroundOf, type Theme, type ThemeName, themeOf } from './theme.js';
import { startWatchdog } from './watchdog.js';

export interface DeskOptions {
  url: string;
  token: string | undefined;
  /** Of the login that is kept for that address. */
  loginName: string | null;
  tty: Tty;
  /** By its name, else by what the terminal says. */
  theme: ThemeName | null;
  isAscii: boolean;
  /** Rings when a call begins to wait for an answer. */
  isRinging: boolean;
  /** The CLI: a program and its first words. */
  program: readonly [string, ...string[]];
}

const TICK_MS = 1000;
const AWAY_MS = 30_000;
const BACKGROUND_MS = 100;
const LINGER_MS = 300;
const ASK_BACKGROUND = '\u001b]11;?\u0007';

/**
 * The desk on a terminal, until it is left; the terminal is as it was found when this resolves, to
 * the exit code. What was thrown inside is thrown on.
 */
export const runDesk = async (options: DeskOptions): Promise<number> => {
  const desk = assemble(options);
  return new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    const close = ({ code, error }: TerminalExit): void => {
      // The terminal first: whatever fails then fails where it can be read.
      desk.terminal.restore();
      desk.known.close();
      for (const stop of stops.splice(0).reverse()) stop();
      if (error === undefined) resolve(code);
      else reject(error);
    };
    stops.push(desk.dismiss, onEnding(close));
    desk.terminal.enter();
    show(desk, options, () => close({ code: 0 }), stops).catch((error) =>
      close({ code: 1, error }),
    );
  });
};

interface Assembled {
  known: Knowledge;
  terminal: Terminal;
  /** Who hears the keys, and what paints: set once they are there. */
  parts: { hear(event: InputEvent): void; painter: Painter | null };
  /** Nothing is left that runs. */
  dismiss(): void;
}

const assemble = ({ url, token, loginName, tty, program }: DeskOptions): Assembled => {
  const known = openKnowledge({ url, token, size: sizeOf(tty), now });
  known.store.dispatch({ type: 'session.known', loginName });
  const parts: Assembled['parts'] = { hear: () => {}, painter: null };
  const watchdog = startWatchdog();
  const terminal = createTerminal({
    tty,
    watchdog,
    listen: listener(tty, (event) => parts.hear(event)),
    painter: () => parts.painter,
    program,
    environment: () => environmentFor(url, known.held.get()),
    isInTmux: given().isInTmux,
  });
  const dismiss = (): void => {
    watchdog?.dismiss();
    // What still waits for an answer must not keep the shell waiting.
    setTimeout(() => process.exit(), LINGER_MS).unref();
  };
  return { known, terminal, parts, dismiss };
};

/** Paints, and hears keys and the daemon. */
const show = async (
  desk: Assembled,
  options: DeskOptions,
  quit: () => void,
  stops: (() => void)[],
): Promise<void> => {
  const { known, terminal, parts } = desk;
  const { client, store, feed, live } = known;
  const { tty } = options;
  // Ink is slow to load: meanwhile the terminal says its colours, and the daemon what there is.
  const loaded = import('./canvas.js');
  const running = Promise.all([greet(client, store), live.run()]);
  const theme = await themeFor(options, parts);
  const { mountApp: stage } = await loaded;
  const painter = new Painter({
    terminal: tty.stdout,
    theme,
    size: () => store.get().ui.size,
    cursor: () => cursorOf(store.get()),
  });
  parts.painter = painter;
  const controller = createController(known, options, controllerEffects(terminal, painter, quit));
  if (options.isRinging) stops.push(ringOnApproval({ store, now, ring: terminal.ring }));
  const ticking = tick(store);
  parts.hear = (event) =>
    event.type === 'focus' ? ticking.pace(event.isFocused) : obeyKey(controller, event);
  stops.push(
    askAtStart(controller),
    ticking.stop,
    onResize(tty, store, painter),
    stage({ store, feed, painter }, painter),
    store.subscribe(
      (state) => state,
      () => painter.plan(),
    ),
  );
  await running;
};

const createController = (
  { client, held, store, feed, live }: Knowledge,
  { loginName: keptName }: DeskOptions,
  outside: ControllerEffects,
): Controller => ({
  ...{ client, store, feed, now, outside, keptName, tryNow: live.tryNow },
  logIn: async (given) => {
    const outcome = await logInToDaemon(client, held, given);
    if (outcome.is === 'in') live.tryNow();
    return outcome;
  },
});

const controllerEffects = (
  { copy, lend, write, print, suspend }: Terminal,
  painter: Painter,
  quit: () => void,
): ControllerEffects => ({
  ...{ copy, leave: lend, write, print, suspend, quit },
  redraw: () => painter.redraw(),
});

const sizeOf = ({ stdout }: Tty): Size => ({
  width: stdout.columns || 80,
  height: stdout.rows || 24,
});

const listener = (tty: Tty, hear: (event: InputEvent) => void) => {
  let input: { stop(): void } | null = null;
  return (isListening: boolean): void => {
    input?.stop();
    input = isListening ? readKeys(tty.stdin, hear) : null;
  };
};

/** As it was asked for, else as the terminal says, else by the environment, else for the dark. */
const themeFor = async (
  { theme, isAscii, tty }: DeskOptions,
  parts: Assembled['parts'],
): Promise<Theme> => {
  const { hasColors, background, isUtf8 } = given();
  const isPlain = isAscii || !isUtf8;
  if (!hasColors) return themeOf('mono', isPlain);
  if (theme) return themeOf(theme, isPlain);
  return themeOf((await askBackground(tty, parts)) ?? background ?? 'dark', isPlain);
};

const askBackground = (tty: Tty, parts: Assembled['parts']): Promise<ThemeName | null> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), BACKGROUND_MS);
    parts.hear = (event) => {
      const found = event.type === 'reply' ? backgroundOf(event.text) : null;
      if (found === null) return;
      clearTimeout(timer);
      resolve(found);
    };
    tty.stdout.write(ASK_BACKGROUND);
  });

/** The clock of the title: every second, and seldom while nobody looks. */
const tick = (store: DeskStore) => {
  const say = (): void => store.dispatch({ type: 'session.ticked', now: now() });
  let timer = setInterval(say, TICK_MS);
  return {
    pace: (isFocused: boolean): void => {
      clearInterval(timer);
      if (isFocused) say();
      timer = setInterval(say, isFocused ? TICK_MS : AWAY_MS);
    },
    stop: () => clearInterval(timer),
  };
};

const onResize = (tty: Tty, store: DeskStore, painter: Painter): (() => void) => {
  const resize = (): void => {
    store.dispatch({ type: 'ui.sized', size: sizeOf(tty) });
    painter.redraw();
  };
  tty.stdout.on('resize', resize);
  // It may have been resized while all this was loaded.
  const { width, height } = sizeOf(tty);
  const { size } = store.get().ui;
  if (size.width !== width || size.height !== height) resize();
  return () => void tty.stdout.off('resize', resize);
};
