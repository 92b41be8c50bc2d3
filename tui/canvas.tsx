import { Readable } from 'node:stream';
import { render } from 'ink';
import { App } from './app.js';
import type { Painter } from './painter.js';
import type { DeskContext } from './parts/desk.js';

export const mountApp = (desk: DeskContext, painter: Painter): (() => void) => {
  const idle = new Readable({ read: () => {} });
  const instance = render(<App desk={desk} />, {
    // Ink's types require terminal streams, but Ink uses only what these two provide.
    stdout: painter as unknown as NodeJS.WriteStream,
    stdin: idle as unknown as NodeJS.ReadStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return () => instance.unmount();
};
