import { now } from '../cli/text.js';
import { ringOnApproval } from './bell.js';
import { dispatchKey } from './control/dispatch.js';
import { askAtStart } from './control/login.js';
import { environmentFor, terminalSettings } from './environment.js';
import { onEnding, type TerminalExit } from './exit.js';
import { cursorOf } from './frame/bars.js';
import { type InputEvent, readKeys } from './input.js';
import { Painter } from './painter.js';
import type { Size } from './parts/row.js';
import { openDeskState } from './state/deskstate.js';
import { loadAccount } from './state/greet.js';
import type { DeskStore } from './state/state.js';
import { createTerminal, type Tty } from './terminal.js';
import { backgroundOf, type Theme, type ThemeName, themeOf } from './theme.js';
import { startWatchdog } from './watchdog.js';

export interface DeskOptions {
  url: string;
  token: string | undefined;
  /** User name of the login that is stored for that address. */
  loginName: string | null;
  tty: Tty;
  /** The theme that was asked for; null for the one that suits the terminal. */
  theme: ThemeName | null;
  isAscii: boolean;
  /** True if the desk rings when a call begins to wait for a decision. */
  isRinging: boolean;
  /** The program of the CLI and its first words. */
  program: readonly [string, ...string[]];
}

const TICK_MS = 1000;
const AWAY_MS = 30_000;
const BACKGROUND_MS = 100;
const LINGER_MS = 300;
const ASK_BACKGROUND = '\u001b]11;?\u0007';

/**
 * Runs the desk on a terminal until the user leaves it. Resolves to the exit code, after the
 * terminal was restored to the state in which it was found. An error from inside the desk is thrown
 * on.
 */
export const runDesk = async (options: DeskOptions): Promise<number> => {
  const desk = assemble(options);
  return new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    const close = ({ code, error }: TerminalExit): void => {
      // The terminal comes first: an error after that appears where it can be read.
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

/** The receiver of the keys and the painter; both are set once they exist. */
interface DeskParts {
  hear(event: InputEvent): void;
  painter: Painter | null;
}

const assemble = ({ url, token, loginName, tty, program }: DeskOptions) => {
  const known = openDeskState({ url, token, size: sizeOf(tty), now });
  known.store.dispatch({ type: 'session.known', loginName });
  const parts: DeskParts = { hear: () => {}, painter: null };
  const watchdog = startWatchdog();
  const terminal = createTerminal({
    tty,
    watchdog,
    listen: listener(tty, (event) => parts.hear(event)),
    painter: () => parts.painter,
    program,
    environment: () => environmentFor(url, known.token()),
    isInTmux: terminalSettings().isInTmux,
  });
  /** Ends whatever still runs. */
  const dismiss = (): void => {
    watchdog?.dismiss();
    // A request that still waits for a reply must not keep the shell waiting.
    setTimeout(() => process.exit(), LINGER_MS).unref();
  };
  return { known, terminal, parts, dismiss };
};

/** Paints the screen, and receives keys and the events of the daemon. */
const show = async (
  desk: ReturnType<typeof assemble>,
  options: DeskOptions,
  quit: () => void,
  stops: (() => void)[],
): Promise<void> => {
  const { known, terminal, parts } = desk;
  const { client, store, feed } = known;
  const { tty } = options;
  // Ink is slow to load. Meanwhile the terminal reports its background colour, and the daemon its
  // data.
  const loaded = import('./canvas.js');
  const running = Promise.all([loadAccount(client, store), known.run()]);
  const theme = await themeFor(options, parts);
  const { mountApp: stage } = await loaded;
  const painter = new Painter({
    terminal: tty.stdout,
    theme,
    size: () => store.get().ui.size,
    cursor: () => cursorOf(store.get()),
  });
  parts.painter = painter;
  const outside = { ...terminal, quit, redraw: () => painter.redraw() };
  const controller = { ...known, outside, keptName: options.loginName };
  if (options.isRinging) stops.push(ringOnApproval({ store, now, ring: terminal.ring }));
  const ticking = tick(store);
  parts.hear = (event) =>
    event.type === 'focus' ? ticking.pace(event.isFocused) : dispatchKey(controller, event);
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

/**
 * Returns the theme that was asked for, else the one that suits the terminal's reply, else the one
 * of the environment, else `dark`. Without colours it is always `mono`.
 */
const themeFor = async ({ theme, isAscii, tty }: DeskOptions, parts: DeskParts): Promise<Theme> => {
  const { hasColors, background, isUtf8 } = terminalSettings();
  const isPlain = isAscii || !isUtf8;
  if (!hasColors) return themeOf('mono', isPlain);
  if (theme) return themeOf(theme, isPlain);
  return themeOf((await askBackground(tty, parts)) ?? background ?? 'dark', isPlain);
};

const askBackground = (tty: Tty, parts: DeskParts): Promise<ThemeName | null> =>
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

/**
 * Updates the clock in the title: every second, and every 30 seconds while the terminal is not
 * focused.
 */
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
  // The terminal may have been resized while all this was loaded.
  const { width, height } = sizeOf(tty);
  const { size } = store.get().ui;
  if (size.width !== width || size.height !== height) resize();
  return () => void tty.stdout.off('resize', resize);
};
