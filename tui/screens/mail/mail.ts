import { deliveryWord } from '../../../cli/email/delivery.js';
import type { MailAccount, MailDraft, SentMail } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { column, numberColumn, stateColumn } from '../../parts/table.js';
import { factRows, textRows } from '../../parts/text.js';
import { formatAge } from '../../parts/times.js';
import { listRows } from '../../state/lists.js';
import { selectedItem } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { tabsRow } from '../detail.js';
import { listPage } from '../list.js';
import { accountActs, draftActs, sentActs } from './acts.js';
import { accountFacts, draftFacts, formatMailSubject, sentFacts } from './facts.js';
import { heading, messagesPage } from './messages.js';

const EVERY_MS = 15_000;

const drafts = listPage<MailDraft>({
  name: 'mail',
  title: 'Drafts',
  noun: 'draft',
  list: 'drafts',
  everyMs: EVERY_MS,
  rows: ({ lists }) => listRows(lists.drafts),
  item: (draft) => ({
    id: draft.id,
    name: formatMailSubject(draft),
    words: `${draft.to.join(' ')} ${draft.untrusted ? 'untrusted' : ''}`,
  }),
  columns: ({ session: { now }, lists }) => [
    column('TO', [16, 40, 0], ({ id, to }) => lists.drafts.busy[id] ?? to.join(', ')),
    column('SUBJECT', [16, 120, 0], formatMailSubject),
    stateColumn('TRUST', [9, 9, 1], ({ untrusted }) => (untrusted ? 'untrusted' : 'trusted')),
    numberColumn('CHANGED', [7, 7, 2], ({ updatedAt }) => formatAge(updatedAt, now)),
  ],
  detail: (_, draft, width) => [
    ...heading(formatMailSubject(draft)),
    ...factRows(draftFacts(draft), width),
    [],
    ...textRows(draft.text, width, true),
  ],
  empty: ['No drafts.', '  i  on an e-mail drafts a reply      adjutant email drafts create'],
  acts: draftActs,
  leaves: (draft) => ({ edit: draft && ['email', 'drafts', 'update', draft.id, '--edit'] }),
});

const sent = listPage<SentMail>({
  name: 'mail',
  title: 'Sent',
  noun: 'sent e-mail',
  list: 'sentMails',
  everyMs: EVERY_MS,
  rows: ({ lists }) => listRows(lists.sentMails),
  item: (mail) => ({
    id: mail.id,
    name: formatMailSubject(mail),
    words: `${mail.status} ${mail.recipients.map(({ address }) => address).join(' ')}`,
    facts: { status: mail.status },
  }),
  columns: ({ session: { now } }) => [
    stateColumn('STATUS', [7, 14, 0], deliveryWord),
    column('TO', [16, 40, 0], ({ recipients }) =>
      recipients.map(({ address }) => address).join(', '),
    ),
    column('SUBJECT', [16, 120, 0], formatMailSubject),
    numberColumn('AGO', [4, 5, 1], ({ createdAt }) => formatAge(createdAt, now)),
  ],
  detail: ({ session: { now } }, mail, width) => [
    ...heading(formatMailSubject(mail)),
    ...factRows(sentFacts(mail, now), width),
  ],
  empty: ['No sent e-mails yet.', '  adjutant email send --help'],
  opens: ({ id }) => ({ page: 'sentmail', id }),
  acts: (mail) => sentActs(mail),
});

const accounts = listPage<MailAccount>({
  name: 'mail',
  title: 'Accounts',
  noun: 'mail account',
  list: 'mailAccounts',
  everyMs: EVERY_MS,
  rows: ({ lists }) => listRows(lists.mailAccounts),
  item: ({ id, address, name, status }) => ({
    id,
    name: address,
    words: `${name} ${status}`,
    facts: { status },
  }),
  columns: ({ session: { now }, lists }) => [
    stateColumn('STATE', [7, 11, 0], ({ id, status }) => lists.mailAccounts.busy[id] ?? status),
    column('ADDRESS', [16, 60, 0], ({ address }) => address),
    numberColumn('READ', [5, 6, 1], ({ lastSyncAt }) => formatAge(lastSyncAt, now)),
    column('WATCHED', [7, 7, 3], ({ watch }) => (watch ? 'yes' : 'no')),
    column('ERROR', [10, 120, 2], ({ error }) => error ?? ''),
  ],
  detail: ({ session: { now } }, account, width) => [
    ...heading(account.address),
    ...factRows(accountFacts(account, now), width),
  ],
  empty: ['No mail accounts yet.', '  a  add one      adjutant email setup <address>'],
  acts: accountActs,
  leaves: (account) => ({
    add: ['email', 'setup'],
    edit: account && ['email', 'accounts', 'update', account.id, '--edit'],
  }),
});

const TABS = ['Messages', 'Drafts', 'Sent', 'Accounts'];
const PARTS = [messagesPage, drafts, sent, accounts];
const COMMANDS = ['email', 'email drafts', 'email sent', 'email accounts'];

const getShownPart = ({ ui }: State): ScreenPage => PARTS[topView(ui).tab] ?? messagesPage;

export const mailPage: ScreenPage = {
  name: 'mail',
  title: 'Mail',
  tabs: TABS,
  isSearched: (state) => getShownPart(state).isSearched?.(state) === true,
  searchHint: 'words, is:new, category:invoice, from:bob, folder:X, has:files',
  related: (state) => getShownPart(state).related?.(state) ?? null,
  items: (state) => getShownPart(state).items?.(state) ?? [],
  cells: (state) => getShownPart(state).cells?.(state) ?? [],
  acts: (state) => getShownPart(state).acts?.(state) ?? {},
  leaves: (state) => getShownPart(state).leaves?.(state) ?? {},
  opens: (state) => getShownPart(state).opens?.(state) ?? null,
  pages: (state) => getShownPart(state).pages?.(state) ?? null,
  summary: (state) => getShownPart(state).summary?.(state) ?? '',
  needs: (state) => getShownPart(state).needs(state),
  text: (state, width) => getShownPart(state).text?.(state, width) ?? null,
  textHeight: (state, { width, height }) =>
    getShownPart(state).textHeight?.(state, { width, height: Math.max(0, height - 2) }) ?? height,
  head: ({ ui }) => [tabsRow(TABS, topView(ui).tab)],
  view: (state, { width, height }) => {
    const rows = getShownPart(state).view(state, { width, height: Math.max(0, height - 2) });
    return [tabsRow(TABS, topView(state.ui).tab), [], ...rows];
  },
  line: (state) => {
    const part = getShownPart(state);
    if (part.isSearched?.(state)) return part.line?.(state) ?? '';
    const chosen = selectedItem(part, state);
    const command = COMMANDS[topView(state.ui).tab] ?? 'email';
    return `adjutant ${command} ${chosen ? `get ${chosen.id}` : 'list'}`;
  },
};
