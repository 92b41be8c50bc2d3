import {
  type Client,
  contracts,
  headlineOf,
  type Notification,
  type NotificationPreferences,
  type PreferenceChanges,
  type Reply,
} from '../../src/client/index.js';
import { columnsOf, shownAs } from '../columns.js';
import { type CommandGroup, type Context, command, type Flag, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { interrupted, usageFault } from '../exit.js';
import { connectionRemark, followRows } from '../live.js';
import { requestCommand } from '../request.js';
import { cutToWidth, localTime, oneLine, padded } from '../text.js';
import { channelCrud } from './channels.js';

const notificationColumns = columnsOf<Notification>(
  ['id:data'],
  { name: 'state', value: (one) => (one.readAt === null ? 'new' : 'read'), isState: true },
  { name: 'title', value: ({ title }) => title, show: headlineOf },
  ['when=createdAt:ago', 'kind', 'short=id:tail', 'body:data', 'link:data'],
);

/** A notification is known by its id, the end of that, or its title. */
const notificationCrud = crud({
  noun: 'notification',
  rows: 'notifications',
  endpoints: { list: (await contracts.notifications()).list },
  columns: notificationColumns,
  named: (notice) => ({ id: notice.id, name: headlineOf(notice) }),
});

/** The number of ids that are remembered, more than a page, so that none is printed twice. */
const KEPT = 5000;
const PAGE = 200;

/** Lists notifications back to one that was printed before; returns them oldest first. */
const missedBy = async (client: Client, known: Set<string>): Promise<Notification[]> => {
  const missed: Notification[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await client.notifications.list({ query: { limit: PAGE, cursor } });
    missed.push(...page.notifications);
    cursor = page.notifications.some(({ id }) => known.has(id)) ? null : page.nextCursor;
  }
  return missed.reverse();
};

const isNotice = (data: unknown): data is Notification =>
  typeof data === 'object' && data !== null && 'id' in data && 'title' in data;

const watchNotifications = command({
  name: 'watch',
  args: '',
  summary: 'Print notifications as they come',
  examples: ['', '--json | jq .title', '--output id'],
  notes: [
    'It goes on until ^C, through lost connections; what it missed meanwhile comes afterwards.',
    'In a pipe: one line for each, its notes on stderr; with --json one notification a line.',
  ],
  seeAlso: 'adjutant notifications list, adjutant approvals watch',
  run: async (context) => {
    const { out, signal } = context;
    const client = await context.listener();
    const known = new Set<string>();
    const isNew = ({ id }: Notification): boolean => {
      if (known.has(id)) return false;
      known.add(id);
      if (known.size > KEPT) known.delete(known.values().next().value ?? '');
      return true;
    };
    let before = 'nothing unread';
    const missed = async (isFirst: boolean): Promise<Notification[]> => {
      if (!isFirst) return missedBy(client, known);
      const page = await client.notifications.list({ query: { limit: PAGE } });
      for (const notice of page.notifications.reverse()) isNew(notice);
      if (page.unreadCount > 0) before = `${page.unreadCount} unread before`;
      return [];
    };
    let told = 0;
    try {
      const followed = { channel: 'notification', isRow: isNotice, isNew, missed };
      for await (const note of followRows(context, followed)) {
        if (note.type === 'listening') out.note(`Listening, ${before}. ^C ends.`);
        else if (note.type !== 'row') out.note(connectionRemark(note));
        else {
          told++;
          printNotice(context, note.row);
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      throw interrupted(`${told} told. They stay: adjutant notifications list --unread`);
    }
  },
});

const KIND_WIDTH = 18;

const printNotice = ({ out }: Context, notice: Notification): void => {
  if (out.format !== 'table') {
    out.item(notice, notificationColumns);
    return;
  }
  const head = [localTime(notice.createdAt), padded(oneLine(notice.kind), KIND_WIDTH)];
  out.line(cutToWidth([...head, oneLine(headlineOf(notice))].join('  '), out.width));
};

const { notice } = await contracts.outbox();

const messageColumns = columnsOf<Reply<'outbox', 'notice'>['sendings'][number]>(
  ['id:data', 'at=createdAt:time', 'status:state', 'target', 'tries=attempts:number'],
  shownAs('error', ({ error }) => error, oneLine),
  ['receipt:data'],
);

const listNoticeMessages = notificationCrud.request({
  name: 'sendings',
  args: '<notification>',
  endpoint: notice,
  examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields target,status,error'],
  notes: ['With --json every attempt and its reply.'],
  seeAlso: 'adjutant channels list, adjutant notifications preferences',
  show: ({ out }, reply) => {
    out.page({ reply, rows: reply.sendings, columns: messageColumns });
    if (reply.sendings.length === 0) out.note('It was sent to no channel.');
  },
});

type KindChoice = NotificationPreferences['kinds'][number];

const OFF = 'off';

/** `22:00-07:00`, or `off`; null stands for that. */
const hours: Flag<{ from: string; to: string } | null> = {
  value: '<from-to|off>',
  about: 'Delay what can wait during these hours: 22:00-07:00',
  read: (given) => {
    if (given === OFF) return null;
    const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(given) ?? [];
    if (from === undefined || to === undefined) {
      throw usageFault(`--quiet-hours are two times, as in 22:00-07:00, or off (got "${given}")`);
    }
    return { from, to };
  },
};

/** `10m`, `2h` or `off`; in minutes, null stands for off. */
const window: Flag<number | null> = {
  value: '<10m|2h|off>',
  about: 'Combine those of a kind within that time into one message',
  read: (given) => {
    if (given === OFF) return null;
    const [, count, unit] = /^(\d{1,4})([mh])$/.exec(given) ?? [];
    if (count === undefined)
      throw usageFault(`--digest is a time: 10m, 2h, or off (got "${given}")`);
    return Number(count) * (unit === 'h' ? 60 : 1);
  },
};

const threshold: Flag<number> = {
  value: '<count>',
  about: 'This many of a kind are sent one by one first',
  read: (given) => {
    if (!/^\d{1,4}$/.test(given)) throw usageFault(`--threshold is a number (got "${given}")`);
    return Number(given);
  },
};

const flags = {
  quietHours: hours,
  timezone: textFlag('<zone>', 'Time zone of the quiet hours: Europe/Berlin'),
  digest: window,
  threshold,
  mute: textFlag('<kinds>', 'Kinds that are sent to no channel, or not to that of --channel'),
  unmute: textFlag('<kinds>', 'Kinds that go out again'),
  channel: textFlag('<channel>', 'The channel for --mute and --unmute'),
};

const notificationPreferences = command({
  name: 'preferences',
  args: '',
  calls: ['notifications preferences', 'notifications set-preferences'],
  summary: 'What goes to your channels, and when; with flags, change it',
  examples: [
    '',
    '--quiet-hours 22:00-07:00 --timezone Europe/Berlin',
    '--digest 10m --threshold 1',
    '--mute hook_failed --channel 4ew6rt',
    '--quiet-hours off --digest off',
  ],
  flags,
  notes: [
    'In the app everything stays. What a hook says with notifyOwner comes at once, whatever is set; ' +
      'so do approvals, and what is about the safety of your account.',
  ],
  seeAlso: 'adjutant channels list',
  run: async (context, { flags: given }) => {
    const client = await context.client();
    if (Object.keys(given).length === 0)
      return show(context, await client.notifications.preferences());
    const body = await changesOf(client, given);
    show(context, await client.notifications['set-preferences']({ body }));
  },
});

type PreferenceFlags = Parameters<typeof notificationPreferences.run>[1]['flags'];

/** Makes the request; what is turned neither on nor off stays as it is. */
const changesOf = async (client: Client, given: PreferenceFlags): Promise<PreferenceChanges> => {
  const { quietHours: hours, timezone, digest: minutes, threshold, mute, unmute } = given;
  if (given.channel !== undefined && mute === undefined && unmute === undefined) {
    throw usageFault('--channel says where --mute or --unmute hold: give one of them');
  }
  const { quietHours, digest } = await client.notifications.preferences();
  const isOn = (typed: object | number | null | undefined, before: { enabled: boolean }) =>
    typed === undefined ? before.enabled : typed !== null;
  return {
    ...((hours !== undefined || timezone !== undefined) && {
      quietHours: { enabled: isOn(hours, quietHours), ...hours, timezone },
    }),
    ...((minutes !== undefined || threshold !== undefined) && {
      digest: { enabled: isOn(minutes, digest), windowMinutes: minutes ?? undefined, threshold },
    }),
    ...((mute !== undefined || unmute !== undefined) && {
      kindChanges: await kindsOf(client, given),
    }),
  };
};

const kindsOf = async (
  client: Client,
  { mute = '', unmute = '', channel }: PreferenceFlags,
): Promise<Omit<KindChoice, 'about'>[]> => {
  const at = channel === undefined ? null : await channelCrud.id(client, channel);
  const listed = (typed: string, enabled: boolean) =>
    typed
      .split(',')
      .filter((kind) => kind !== '')
      .map((kind) => ({ kind, channelId: at, enabled }));
  return [...listed(mute, false), ...listed(unmute, true)];
};

const columns = columnsOf<KindChoice>(
  ['kind'],
  { name: 'sends', value: ({ enabled }) => (enabled ? 'yes' : 'muted'), isState: true },
  {
    name: 'channel',
    value: ({ channelId }) => channelId,
    show: ({ channelId }) => channelId?.slice(-6) ?? 'all',
  },
  ['about'],
);

const show = ({ out }: Context, preferences: NotificationPreferences): void => {
  const { kinds, quietHours: quiet, digest } = preferences;
  out.page({ reply: preferences, rows: kinds, columns });
  const hours = quiet.enabled ? `${quiet.from} to ${quiet.to}, ${quiet.timezone}` : OFF;
  out.note(`Quiet hours ${hours}`);
  const first = digest.threshold > 0 ? ` after the first ${digest.threshold}` : '';
  out.note(digest.enabled ? `Digest of ${digest.windowMinutes} minutes${first}` : 'Digest off');
};

const { read, 'read-all': readAll } = await contracts.notifications();

const readEvery = requestCommand({
  name: 'read-all',
  endpoint: readAll,
  examples: ['', '--json', '--quiet'],
  show: ({ out }, reply) => out.done(`Marked ${reply.read} as read.`, reply, columnsOf(['read'])),
});

export const notificationsGroup: CommandGroup = {
  commands: [
    notificationCrud.list({
      examples: ['', '--unread', '--watch'],
      next: (rows) => {
        if (rows.length === 0) return 'Nothing to tell.';
        const isNew = rows.some(({ readAt }) => readAt === null);
        return isNew ? 'Seen them: adjutant notifications read-all' : undefined;
      },
    }),
    notificationCrud.act('read', read, {
      examples: [
        '4ew6rt',
        '4ew6rt --json',
        'notifications list --unread --output id | xargs -n1 adjutant notifications read',
      ],
      message: (notice) => `Read: ${headlineOf(notice)}`,
    }),
    readEvery,
    watchNotifications,
    listNoticeMessages,
    notificationPreferences,
  ],
};
