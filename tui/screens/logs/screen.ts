import type { ScreenPage } from '../../page.js';
import { lookOf } from '../../state/ui.js';
import { levelsFrom } from './slice.js';
import { logPieces, logsText, logsView } from './view.js';

const EVERY_MS = 1000;

export const logsPage: ScreenPage = {
  name: 'logs',
  root: 'logs',
  title: 'Logs',
  tabs: [],
  text: logsText,
  isTail: true,
  levels: levelsFrom,
  summary: (state) => {
    const { isFollowing, leastLevel } = lookOf(state.ui);
    const { trouble, loadedAt } = state.lists.logs;
    if (trouble) return loadedAt === null ? '' : `not read on: ${trouble.message}`;
    const followed = isFollowing ? 'following' : 'not following: f';
    return `${followed}   level ${leastLevel} and above (, less  . more)`;
  },
  glossary: [['gap', 'lines that the daemon dropped from memory before they were read']],
  needs: ({ ui }) => [{ is: 'list', list: 'logs', of: lookOf(ui).leastLevel, everyMs: EVERY_MS }],
  view: logsView,
  stream: logPieces,
};
