import { systemClock as clock } from '../src/kernel/clock.js';
import { ringOnApproval } from './bell.js';
import { dispatchKey } from './control/dispatch.js';
import { askAtStart } from './control/login.js';
import { environmentFor, terminalSettings } from './environment.js';
import { onProcessEnd, type TerminalExit } from './exit.js';
import { computeCursorPosition } from './frame/bars.js';
import { type InputEvent, readKeys } from './input.js';
import { Painter } from './painter.js';
import type { Size } from './parts/row.js';
import { loadAccount } from './state/bootstrap.js';
import { openDeskState } from './state/deskstate.js';
import type { DeskStore } from './state/state.js';
import { createTerminal, type Tty } from './terminal.js';
import { createTheme, parseBackgroundReply, type Theme, type ThemeName } from './theme.js';
import { startWatchdog } from './watchdog.js';

export interface DeskOptions {
  url: string;
  token: string | undefined;
  loginName: string | null;
  tty: Tty;
  theme: ThemeName | null;
  isAscii: boolean;
  isRinging: boolean;
  program: readonly [string, ...string[]];
}

const TICK_MS = 1000;
const AWAY_MS = 30_000;
const BACKGROUND_MS = 100;
const LINGER_MS = 300;
const ASK_BACKGROUND = '\u001b]11;?\u0007';

/**
 * Runs the desk until the user leaves it. Resolves to the exit code after the terminal is restored.
 * Errors from inside the desk are rethrown.
 */
export const runDesk = async (options: DeskOptions): Promise<number> => {
  const desk = assemble(options);
  return new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    const close = ({ code, error }: TerminalExit): void => {
      desk.terminal.restore();
      desk.known.close();
      for (const stop of stops.splice(0).reverse()) stop();
      if (error === undefined) resolve(code);
      else reject(error);
    };
    stops.push(desk.dismiss, onProcessEnd(close));
    desk.terminal.enter();
    show(desk, options, () => close({ code: 0 }), stops).catch((error) =>
      close({ code: 1, error }),
    );
  });
};

interface DeskParts {
  hear(event: InputEvent): void;
  painter: Painter | null;
}

const assemble = ({ url, token, loginName, tty, program }: DeskOptions) => {
  const known = openDeskState({ url, token, size: getTerminalSize(tty), clock });
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
  const dismiss = (): void => {
    watchdog?.dismiss();
    // A pending request must not keep the shell waiting.
    clock.after(LINGER_MS, () => process.exit(), { ref: false });
  };
  return { known, terminal, parts, dismiss };
};

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
    cursor: () => computeCursorPosition(store.get()),
  });
  parts.painter = painter;
  const outside = { ...terminal, quit, redraw: () => painter.redraw() };
  const controller = { ...known, outside, keptName: options.loginName };
  if (options.isRinging) stops.push(ringOnApproval({ store, now: clock.now, ring: terminal.ring }));
  const ticking = tick(store);
  parts.hear = (event) =>
    event.type === 'focus' ? ticking.pace(event.isFocused) : dispatchKey(controller, event);
  stops.push(
    askAtStart(controller),
    ticking.stop,
    onResize(tty, store, painter),
    stage({ store, feed, clock, painter }, painter),
    store.subscribe(
      (state) => state,
      () => painter.plan(),
    ),
  );
  await running;
};

const getTerminalSize = ({ stdout }: Tty): Size => ({
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
 * The requested theme, else one for the terminal's background, else for the environment's, else
 * `dark`. Without colours always `mono`.
 */
const themeFor = async ({ theme, isAscii, tty }: DeskOptions, parts: DeskParts): Promise<Theme> => {
  const { hasColors, background, isUtf8 } = terminalSettings();
  const isPlain = isAscii || !isUtf8;
  if (!hasColors) return createTheme('mono', isPlain);
  if (theme) return createTheme(theme, isPlain);
  return createTheme((await askBackground(tty, parts)) ?? background ?? 'dark', isPlain);
};

const askBackground = (tty: Tty, parts: DeskParts): Promise<ThemeName | null> =>
  new Promise((resolve) => {
    const cancel = clock.after(BACKGROUND_MS, () => resolve(null));
    parts.hear = (event) => {
      const found = event.type === 'reply' ? parseBackgroundReply(event.text) : null;
      if (found === null) return;
      cancel();
      resolve(found);
    };
    tty.stdout.write(ASK_BACKGROUND);
  });

/** Updates the clock every second, or every 30 seconds while the terminal is not focused. */
const tick = (store: DeskStore) => {
  const say = (): void => store.dispatch({ type: 'session.ticked', now: clock.now() });
  let cancel = clock.every(TICK_MS, say);
  return {
    pace: (isFocused: boolean): void => {
      cancel();
      if (isFocused) say();
      cancel = clock.every(isFocused ? TICK_MS : AWAY_MS, say);
    },
    stop: () => cancel(),
  };
};

const onResize = (tty: Tty, store: DeskStore, painter: Painter): (() => void) => {
  const resize = (): void => {
    store.dispatch({ type: 'ui.sized', size: getTerminalSize(tty) });
    painter.redraw();
  };
  tty.stdout.on('resize', resize);
  // The terminal may have been resized meanwhile.
  const { width, height } = getTerminalSize(tty);
  const { size } = store.get().ui;
  if (size.width !== width || size.height !== height) resize();
  return () => void tty.stdout.off('resize', resize);
};
