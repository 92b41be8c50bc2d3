import { useRef, useState } from 'preact/hooks';
import type { Notification } from '../../src/outbound/notifications/contract.js';
import { Button, useAction } from '../parts/action.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, usePaged } from '../parts/more.js';
import { Empty, Failure } from '../parts/notes.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';
import { useOverview } from '../state/overview.js';
import { parseRoute } from '../state/route.js';

export const Notifications = ({ query }: { query: URLSearchParams }) => {
  const [isUnread, setUnread] = useState(query.has('unread'));
  const [count, setCount] = useState<number | null>(null);
  const list = usePaged({
    key: String(isUnread),
    load: async (page, signal) => {
      const filter = { ...page, ...(isUnread && { unread: true }) };
      const reply = await ask('GET', '/api/notifications', { query: filter }, signal);
      setCount(reply.unreadCount);
      return { rows: reply.notifications, nextCursor: reply.nextCursor };
    },
    topics: ['notification'],
  });
  const overview = useOverview();
  const mark = async ({ id }: Notification): Promise<void> => {
    const read = await ask('POST', '/api/notifications/{id}/read', { id });
    setCount((before) => before && before - 1);
    void overview?.reload();
    if (!list.data) return;
    const rows = list.data.rows.map((row) => (row.id === id ? read : row));
    list.replace({ ...list.data, rows });
  };
  const choose = (isChosen: boolean): void => {
    history.replaceState(history.state, '', isChosen ? '?unread' : location.pathname);
    setUnread(isChosen);
  };
  return (
    <>
      <Heading title="Notifications" />
      <label class="choice">
        <input
          type="checkbox"
          checked={isUnread}
          onChange={({ currentTarget }) => choose(currentTarget.checked)}
        />
        Unread only
      </label>
      <MarkAll count={count} reload={list.reload} />
      <Cards of={list} what="notifications" empty={<NoNotices isUnread={isUnread} />}>
        {(notice) => <NoticeCard notice={notice} mark={() => mark(notice)} />}
      </Cards>
    </>
  );
};

const MarkAll = ({ count, reload }: { count: number | null; reload(): Promise<void> }) => {
  const action = useAction();
  const overview = useOverview();
  const markAll = async (): Promise<void> => {
    await ask('POST', '/api/notifications/read-all');
    void overview?.reload();
    document.querySelector('h1')?.focus();
    await reload();
  };
  return (
    <>
      {action.error && <Failure error={action.error} />}
      <p role="status">{count !== null && `${count === 0 ? 'None' : count} unread`}</p>
      {count !== null && count > 0 && (
        <div class="buttons">
          <Button action={action} work={markAll}>
            Mark all as read
          </Button>
        </div>
      )}
    </>
  );
};

/** Path within the page. `null` for any other link. */
const toPagePath = (link: string | null): string | null => {
  if (!link?.startsWith('/')) return null;
  const url = new URL(link, location.origin);
  if (url.origin !== location.origin || parseRoute(url).name === 'unknown') return null;
  return url.pathname + url.search;
};

/** Length above which a body is cut until requested. */
const LONG = 240;

const NoticeCard = ({ notice, mark }: { notice: Notification; mark(): Promise<void> }) => {
  const action = useAction();
  const title = useRef<HTMLElement>(null);
  const path = toPagePath(notice.link);
  const isNew = notice.readAt === null;
  const markHere = async (): Promise<void> => {
    await mark();
    // The button is gone.
    title.current?.focus();
  };
  const text = (
    <strong ref={title} tabIndex={path === null ? -1 : undefined}>
      {visibleText(notice.title)}
    </strong>
  );
  return (
    <>
      <p class="line">
        <span class={`state ${isNew ? 'info' : 'muted'}`}>{isNew ? 'new' : 'read'}</span>
        <span>{notice.kind.replaceAll('_', ' ')}</span>
        <span class="at">
          <Ago at={notice.createdAt} />
        </span>
      </p>
      <p>
        {path === null ? (
          text
        ) : (
          <a href={path} onClick={() => void (isNew && action.run(mark))}>
            {text}
          </a>
        )}
      </p>
      <Body text={notice.body} />
      {action.error && <Failure error={action.error} />}
      {isNew && (
        <Button action={action} work={markHere}>
          Mark as read
        </Button>
      )}
    </>
  );
};

const Body = ({ text }: { text: string }) => {
  const [isWhole, setWhole] = useState(false);
  if (text === '') return null;
  if (isWhole || text.length <= LONG) return <p class="said">{visibleText(text)}</p>;
  return (
    <>
      <p class="said clip">{visibleText(text.slice(0, LONG))}…</p>
      <button type="button" class="link" onClick={() => setWhole(true)}>
        Show all
      </button>
    </>
  );
};

const NoNotices = ({ isUnread }: { isUnread: boolean }) =>
  isUnread ? (
    <Empty>No unread notifications.</Empty>
  ) : (
    <Empty>No notifications yet. Notifications from hooks and agents appear here.</Empty>
  );
