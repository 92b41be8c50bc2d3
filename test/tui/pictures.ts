import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { saveSession } from '../../src/client/session.js';
import { openConfig } from '../cli/config.js';
import { openTmux } from '../harness/tmux.js';
import { startSample } from './sample.js';
import { svgOf } from './svg.js';

/**
 * `npm run screens` draws the pictures of the documents again: the real desk with a sample daemon.
 */
const BIN = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
const SCREENS = fileURLToPath(new URL('../../../docs/screens/', import.meta.url));
const COLUMNS = 100;

/** Keys, each with a text that is shown afterwards. */
const WALK = [
  {
    name: 'overview',
    title: 'Overview: how it stands, what needs you, what happens',
    way: [['1', 'success']],
  },
  {
    name: 'agent',
    title: 'An agent: its transcript, live',
    way: [
      ['3', 'reviewer'],
      ['Enter', 'decide there'],
    ],
  },
  {
    name: 'approval',
    title: 'An approval: the whole call, and the question',
    way: [
      ['4', 'The whole call is shown'],
      ['A', 'exactly as shown?'],
    ],
  },
  {
    name: 'tunnel',
    title: 'The tunnel: six stages, and what to do',
    way: [
      ['Escape', 'A approve'],
      ['8', 'exposed'],
    ],
  },
  {
    name: 'knowledge',
    title: 'Knowledge: what a search finds while it is typed',
    way: [
      ['g', 'g k Knowledge'],
      ['k', 'Grace looks after'],
      ['/', 'esc clear'],
      ['s', '/s'],
      ['e', '/se'],
      ['r', '/ser'],
      ['v', '/serv'],
      ['e', '/serve'],
      ['r', 'Matched'],
    ],
  },
] as const;

const config = await openConfig();
const stage = await startSample();
saveSession(stage.url, {
  token: stage.token,
  username: 'owner',
  expiresAt: '2126-01-01T00:00:00.000Z',
});
const env = { XDG_CONFIG_HOME: config.folder, ADJUTANT_URL: stage.url };
const tmux = await openTmux({ width: COLUMNS, height: 24, env });
try {
  await tmux.line(`node ${BIN} tui --theme dark`);
  await tmux.wait('live');
  mkdirSync(SCREENS, { recursive: true });
  for (const { name, title, way } of WALK) {
    for (const [key, text] of way) {
      await tmux.shows(text, key);
    }
    await new Promise((resolve) => setTimeout(resolve, 1500));
    writeFileSync(`${SCREENS}${name}.svg`, svgOf(await tmux.styled(), title, COLUMNS));
  }
} finally {
  await tmux.close();
  await stage.stop();
  await config.close();
}
