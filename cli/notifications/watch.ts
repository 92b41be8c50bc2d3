import type { Notification } from '../../src/client/index.js';
import { now } from '../clock.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { interrupted } from '../exit.js';
import { cutToWidth, oneLine, padded } from '../text.js';
import { localTime } from '../times.js';
import { notificationColumns } from './columns.js';
import { followNotices, type NoticeNote } from './live.js';

export const watchNotifications = command({
  name: 'watch',
  args: '',
  summary: 'What you are told, as it comes',
  examples: ['', '--json | jq .title', '--output id'],
  notes: [
    'It goes on until ^C, through lost connections; what it missed meanwhile comes afterwards.',
    'In a pipe: one line for each, its notes on stderr; with --json one notification a line.',
  ],
  seeAlso: 'adjutant notifications list, adjutant approvals watch',
  run: async (context) => {
    const client = await context.listener();
    let told = 0;
    try {
      for await (const note of followNotices(context, client)) {
        if (note.type !== 'notice') context.out.note(remark(note));
        else {
          told++;
          print(context, note.notice);
        }
      }
    } catch (error) {
      if (!context.signal.aborted) throw error;
      throw interrupted(`${told} told. They stay: adjutant notifications list --unread`);
    }
  },
});

const KIND_WIDTH = 18;

const print = ({ out }: Context, notice: Notification): void => {
  if (out.format !== 'table') {
    out.item(notice, notificationColumns);
    return;
  }
  const head = [localTime(notice.createdAt), padded(oneLine(notice.kind), KIND_WIDTH)];
  out.line(cutToWidth([...head, oneLine(notice.title)].join('  '), out.width));
};

const remark = (note: Exclude<NoticeNote, { type: 'notice' }>): string => {
  if (note.type === 'listening') {
    const waiting = note.unread > 0 ? `${note.unread} unread before` : 'nothing unread';
    return `Listening, ${waiting}. ^C ends.`;
  }
  const at = localTime(new Date(now()).toISOString());
  return note.type === 'lost'
    ? `-- lost the daemon ${at} (${note.reason}), trying --`
    : `-- back ${at}, ${note.caughtUp} caught up, none missing --`;
};
