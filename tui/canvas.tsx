import { Readable } from 'node:stream';
import { render } from 'ink';
import { App } from './app.js';
import type { Painter } from './painter.js';
import type { DeskContext } from './parts/desk.js';

/** Gives Ink the app, the painter as its screen, and no keys. What comes back takes all of it away. */
export const mountApp = (desk: DeskContext, painter: Painter): (() => void) => {
  const idle = new Readable({ read: () => {} });
  const instance = render(<App desk={desk} />, {
    // Ink asks for a terminal's streams and uses no more of them than these have.
    stdout: painter as unknown as NodeJS.WriteStream,
    stdin: idle as unknown as NodeJS.ReadStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return () => instance.unmount();
};
