import { useState } from 'preact/hooks';
import type { MailMessage } from '../../src/email/messages/contract.js';
import type { SentMail } from '../../src/email/sending/contract.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { useAction } from '../parts/action.js';
import { Confirm } from '../parts/confirm.js';
import { DraftCard } from '../parts/draftcard.js';
import { Choice } from '../parts/filter.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { subjectText } from '../parts/mailtext.js';
import { Cards, usePaged } from '../parts/more.js';
import { Empty, Failure, State } from '../parts/notes.js';
import { SearchForm } from '../parts/searchform.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';
import { useLoad } from '../state/load.js';
import { go } from '../state/route.js';

const PARTS = ['drafts', 'sent'] as const;
/** Maximum characters of a search. */
const MAX_WORDS = 200;

export const MailView = ({ query }: { query: URLSearchParams }) => {
  const [part, setPart] = useState(PARTS.find((one) => one === query.get('show')));
  const shown = { drafts: <Drafts />, sent: <SentList /> };
  return (
    <>
      <Heading title="Mail" />
      <Choice
        name="show"
        label="Show"
        unless="messages"
        of={PARTS}
        chosen={part}
        choose={(one) => setPart(one)}
      />
      {part === undefined ? <Messages query={query} /> : shown[part]}
    </>
  );
};

const CATEGORIES: readonly MailMessage['category'][] = [
  ...(['personal', 'work', 'newsletter', 'notification'] as const),
  ...(['invoice', 'event', 'spam', 'other'] as const),
];

/** E-mails, or search results of the mail servers. The search is in the address. */
const Messages = ({ query }: { query: URLSearchParams }) => {
  const q = (query.get('q') ?? '').slice(0, MAX_WORDS);
  const thread = query.get('thread') ?? '';
  const [category, setCategory] = useState(CATEGORIES.find((one) => one === query.get('category')));
  const filter = {
    ...(q !== '' && { q }),
    ...(thread !== '' && { thread }),
    ...(category && { category }),
  };
  const list = usePaged({
    key: JSON.stringify(filter),
    load: async (page, signal) => {
      const of = { query: { ...page, ...filter } };
      const reply = await ask('GET', '/api/email/messages', of, signal);
      return { rows: reply.messages, nextCursor: reply.nextCursor };
    },
  });
  const isAll = Object.keys(filter).length === 0;
  const none = isAll
    ? 'No e-mails. To add a mailbox: adjutant email setup'
    : 'No matching e-mails.';
  return (
    <>
      <StaleMailboxes of={list.data} />
      <SearchForm key={q} words={q} search={(words) => go(searchLink(words, category))} />
      {thread !== '' && (
        <p class="muted">
          One conversation. <a href={pageLink('mail')}>All e-mails</a>
        </p>
      )}
      <Choice
        name="category"
        label="Category"
        unless="all"
        of={CATEGORIES}
        chosen={category}
        choose={(one) => setCategory(one)}
      />
      <Cards of={list} what="e-mails" empty={<Empty>{none}</Empty>}>
        {(mail) => <MessageCard mail={mail} />}
      </Cards>
    </>
  );
};

/** Outdated mailboxes, whose e-mails may be missing. */
const StaleMailboxes = ({ of }: { of: unknown }) => {
  const accounts = useLoad({
    key: of === null ? 'before' : 'after',
    load: (signal) => ask('GET', '/api/email/accounts', { query: { limit: 200 } }, signal),
  });
  const stale = accounts.data?.accounts.filter(({ status }) => status !== 'ok') ?? [];
  return (
    <>
      {stale.map(({ id, address, error }) => (
        <p key={id} class="note warn" role="status">
          {visibleText(address)} is not up to date, so e-mails may be missing:{' '}
          {visibleText(error ?? 'the server rejected the login')}
        </p>
      ))}
    </>
  );
};

const searchLink = (words: string, category: string | undefined): string => {
  const query = new URLSearchParams({
    ...(words !== '' && { q: words.slice(0, MAX_WORDS) }),
    ...(category !== undefined && { category }),
  });
  return `${pageLink('mail')}${query.size > 0 ? '?' : ''}${query}`;
};

const MessageCard = ({ mail }: { mail: MailMessage }) => (
  <>
    <p class="line">
      {mail.unread && <State of="new" />}
      <span class="kind">{mail.category}</span>
      <span class="at">
        <Ago at={mail.date} />
      </span>
    </p>
    <p>
      <a href={pageLink('message', mail.id)}>
        <strong>{subjectText(mail)}</strong>
      </a>
    </p>
    <p class="muted clip">
      {visibleText(mail.from === null ? '' : `${mail.from.name} <${mail.from.address}>`)}
    </p>
  </>
);

const Drafts = () => {
  const list = usePaged({
    key: 'drafts',
    load: async (page, signal) => {
      const reply = await ask('GET', '/api/email/drafts', { query: page }, signal);
      return { rows: reply.drafts, nextCursor: reply.nextCursor };
    },
  });
  return (
    <Cards of={list} what="drafts" empty={<Empty>No drafts.</Empty>}>
      {(draft) => <DraftCard draft={draft} reload={list.reload} />}
    </Cards>
  );
};

const SentList = () => {
  const list = usePaged({
    key: 'sent',
    load: async (page, signal) => {
      const reply = await ask('GET', '/api/email/sent', { query: page }, signal);
      return { rows: reply.sent, nextCursor: reply.nextCursor };
    },
  });
  return (
    <Cards of={list} what="sent e-mails" empty={<Empty>No sent e-mails yet.</Empty>}>
      {(mail) => <SentCard mail={mail} reload={list.reload} />}
    </Cards>
  );
};

const SentCard = ({ mail, reload }: { mail: SentMail; reload(): Promise<void> }) => (
  <>
    <p class="line">
      <State of={mail.status} />
      <span class="at">
        <Ago at={mail.createdAt} />
      </span>
    </p>
    <p>
      <strong>{subjectText(mail)}</strong>
    </p>
    {mail.recipients.map(({ address, place, status, reply }) => (
      <p key={`${place} ${address}`} class="muted">
        {place} {visibleText(address)} <State of={status} />{' '}
        {reply !== null && status !== 'sent' && visibleText(reply)}
      </p>
    ))}
    {mail.error !== null && <p class="muted clip">{visibleText(mail.error)}</p>}
    {mail.status === 'queued' && <CancelMail mail={mail} reload={reload} />}
  </>
);

const CancelMail = ({ mail, reload }: { mail: SentMail; reload(): Promise<void> }) => {
  const action = useAction();
  const cancel = async (): Promise<void> => {
    try {
      await ask('POST', '/api/email/sent/{id}/cancel', { id: mail.id });
    } finally {
      await reload();
    }
  };
  return (
    <>
      {action.error && <Failure error={action.error} />}
      <Confirm
        action={action}
        work={cancel}
        kind="danger"
        question={<>Cancel {subjectText(mail)}? Copies already delivered stay.</>}
        label="Cancel it"
      >
        Cancel
      </Confirm>
    </>
  );
};
