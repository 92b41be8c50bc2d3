import type { Page } from '../page.js';
import type { Root } from '../state/places.js';

/** A page whose part of the daemon is not there yet: it says so, and where to go meanwhile. */
const absent = (name: Root, title: string, lines: readonly string[]): Page => ({
  name,
  root: name,
  title,
  tabs: [],
  needs: () => [],
  view: () => lines.map((text) => [{ text }]),
});

export const tunnelPage = absent('tunnel', 'Tunnel', [
  'Not built here yet: this daemon has no tunnel of its own.',
  'How webhooks reach it meanwhile: adjutant help webhooks',
]);

export const logsPage = absent('logs', 'Logs', [
  'Not built here yet: the daemon does not give its log to the desk.',
  'On its machine: adjutant logs -f',
]);
