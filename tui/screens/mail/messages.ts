import type { MailMessage } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { column, numberColumn, type ScreenColumn, stateColumn } from '../../parts/table.js';
import { countedNoun, factRows, textRows } from '../../parts/text.js';
import { formatAge } from '../../parts/times.js';
import { listRows } from '../../state/lists.js';
import { mailQuery } from '../../state/mailquery.js';
import { selectedItem } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { quotedWord } from '../knowledge/acts.js';
import { listPage } from '../list.js';
import { messageActs } from './acts.js';
import { formatMailSubject, formatUrgency, mailFacts, mailSender } from './facts.js';

/** The daemon checks the mailboxes when the list is read, at most once in five seconds. */
const MESSAGES_MS = 30_000;
/** Time without typing before a mail server is asked, in milliseconds. */
const TYPED_MS = 500;

/** First rows of the details of an object with a subject. */
export const heading = (subject: string): ScreenRow[] => [row(tonedSpan('strong', subject)), []];

const columns = ({ session: { now }, lists }: State): ScreenColumn<MailMessage>[] => [
  stateColumn(
    'STATE',
    [5, 9, 1],
    ({ id, unread }) => lists.mails.busy[id] ?? (unread ? 'new' : 'read'),
  ),
  column('FROM', [16, 40, 0], ({ from }) => mailSender(from)),
  column('SUBJECT', [16, 120, 0], formatMailSubject),
  numberColumn('AGO', [4, 5, 1], ({ date }) => formatAge(date, now)),
  column('CATEGORY', [8, 12, 2], ({ category }) => category),
  column('PRIORITY', [8, 8, 3], formatUrgency),
  numberColumn('FILES', [5, 5, 3], ({ attachments }) => String(attachments.length || '')),
];

const detail = ({ session: { now } }: State, mail: MailMessage, width: number): ScreenRow[] => [
  ...heading(formatMailSubject(mail)),
  ...factRows(mailFacts(mail, now), width),
  [],
  ...textRows(mail.snippet, width, true),
];

const item = (mail: MailMessage) => {
  const { id, subject, from, category, folder, unread } = mail;
  return {
    id,
    name: subject,
    words: `${mailSender(from)} ${category} ${formatUrgency(mail)} ${folder} ${unread ? 'new' : ''}`,
    facts: { status: unread ? 'new' : 'read', category, folder },
  };
};

const getMailFilter = ({ ui }: State): string => topView(ui).filter.trim();

/** Warnings about outdated mailboxes, whose e-mails may be missing. */
const staleRows = ({ lists }: State): string[] =>
  listRows(lists.mailAccounts)
    .filter(({ status }) => status !== 'ok')
    .map(
      ({ address, error }) =>
        `${address} is not up to date: ${error ?? 'the server rejected the login'}`,
    );

const formatMailSummary = (state: State, rows: MailMessage[]): string => {
  const { of, askedAt } = state.lists.mails;
  const isSearching = askedAt !== null && (of ?? '') !== getMailFilter(state);
  if (isSearching) return 'searching…';
  const stale = staleRows(state).length;
  const staleText =
    stale > 0 ? `, ${countedNoun(stale, 'mailbox', 'mailboxes')} not up to date` : '';
  return `${countedNoun(rows.length, 'e-mail')}, ${rows.filter(({ unread }) => unread).length} new${staleText}`;
};

const buildCommandLine = (state: State): string => {
  const chosen = selectedItem(messagesPage, state);
  if (chosen) return `adjutant email get ${chosen.id}`;
  const flags = Object.entries(mailQuery(getMailFilter(state))).map(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? flag : `${flag} ${quotedWord(String(value))}`;
  });
  return ['adjutant email list', ...flags].join(' ');
};

export const messagesPage: ScreenPage = {
  ...listPage<MailMessage>({
    name: 'mail',
    title: 'Messages',
    noun: 'e-mail',
    list: 'mails',
    isSearched: true,
    rows: ({ lists }) => listRows(lists.mails),
    item,
    columns,
    detail,
    empty: (state) =>
      getMailFilter(state) === ''
        ? ['No e-mails.', '  ]  your mail accounts are the last tab      adjutant email setup']
        : ['No matches.', ...staleRows(state), '  esc  clear the search'],
    needs: (state) => {
      const of = getMailFilter(state);
      const when = of === '' ? { everyMs: MESSAGES_MS } : { afterMs: TYPED_MS };
      return [
        { is: 'list', list: 'mails', of, ...when },
        { is: 'list', list: 'mailAccounts', everyMs: MESSAGES_MS },
      ];
    },
    opens: ({ id }) => ({ page: 'message', id }),
    related: ({ threadId }) => ({ page: 'thread', id: threadId }),
    acts: messageActs,
    summary: formatMailSummary,
  }),
  line: buildCommandLine,
};

export const threadPage: ScreenPage = {
  ...listPage<MailMessage>({
    name: 'thread',
    title: 'Thread',
    noun: 'e-mail',
    list: 'threadMails',
    rows: ({ lists }) => listRows(lists.threadMails),
    item,
    columns,
    detail,
    empty: ['No e-mails of this thread.'],
    needs: ({ ui }) => [{ is: 'list', list: 'threadMails', of: topView(ui).id }],
    opens: ({ id }) => ({ page: 'message', id }),
    acts: messageActs,
  }),
  line: ({ ui }) => `adjutant email list --thread ${topView(ui).id}`,
};
