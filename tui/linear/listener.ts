import type { Agent, Approval, Need } from '../../src/client/index.js';
import { timeOfEvent } from '../parts/times.js';
import { agentName, approvalTrust, callName } from '../screens/approvals.js';
import { listRows } from '../state/lists.js';
import type { Link } from '../state/session.js';
import type { State } from '../state/state.js';
import { EXECUTIONS, getStreamRing, type StreamEntry } from '../state/streams.js';
import type { Announcement } from './announcement.js';

export interface LinearNews {
  text: string;
  /**
   * `rings`: the user is needed. `always`: announced even if other news is off. `followed`: from a
   * followed stream. `heard`: everything else.
   */
  weight: 'rings' | 'always' | 'followed' | 'heard';
}

export interface LinearListener {
  hear(state: State): LinearNews[];
}

/**
 * Last state of each object by kind and id. Above `MAX_MARKS`, the objects without news for the
 * longest time are dropped.
 */
type Marks = Map<string, string>;
const MAX_MARKS = 10_000;

export const createLinearListener = (announcement: Announcement): LinearListener => {
  const marks: Marks = new Map();
  /**
   * Time of the first call, in ISO 8601. `null` before it. Objects that exist by then are not news.
   */
  let since: string | null = null;
  const collectNews = <T>(rows: readonly T[], { mark, news }: NewsSource<T>): LinearNews[] =>
    rows.flatMap((row) => {
      const [key, value] = mark(row);
      const before = marks.get(key);
      marks.delete(key);
      marks.set(key, value);
      return before === value || since === null ? [] : news(row, before);
    });
  return {
    hear: (state) => {
      const began = since ?? new Date(state.session.now).toISOString();
      const news = [
        ...collectNews([state.session.link], ofLink(state)),
        ...collectNews(
          oldestFirst(listRows(state.lists.approvals)),
          ofApprovals(state, announcement),
        ),
        ...collectNews(state.overview.known?.needs ?? [], ofNeeds),
        ...collectNews(getStreamRing(state.streams, EXECUTIONS).entries, ofRuns(state, began)),
        ...collectNews(listRows(state.lists.agents), ofAgents(began)),
      ];
      since = began;
      for (const key of [...marks.keys()].slice(0, -MAX_MARKS)) marks.delete(key);
      return news;
    },
  };
};

interface NewsSource<T> {
  /** Key of the object, and the value whose change is news. */
  mark(row: T): [key: string, value: string];
  /** `before` is undefined for a new object. */
  news(row: T, before: string | undefined): LinearNews[];
}

const oldestFirst = (approvals: Approval[]): Approval[] =>
  approvals.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));

const ofLink = ({ session: { now } }: State): NewsSource<Link> => ({
  mark: ({ is }) => ['link', is],
  news: (link, before) => {
    if (link.is === 'refused') {
      return [{ text: `${link.reason}. Type login, or run: adjutant login`, weight: 'rings' }];
    }
    const text =
      link.is === 'lost'
        ? `Connection lost at ${timeOfEvent(link.since, now)}: ${link.reason}. Retrying. On this machine: adjutant up`
        : `Connection restored at ${timeOfEvent(now, now)}. The data was reloaded.`;
    const isTold = link.is === 'lost' || (link.is === 'live' && before === 'lost');
    return isTold ? [{ text, weight: 'always' }] : [];
  },
});

const ofApprovals = (state: State, announcement: Announcement): NewsSource<Approval> => ({
  mark: ({ id, status }) => {
    if (status === 'pending') announcement.callNumber(id);
    return [`approval ${id}`, status];
  },
  news: (approval, before) => {
    const { id, status } = approval;
    const call = callName(approval);
    if (status === 'pending') {
      const number = announcement.callNumber(id);
      const asks = `${agentName(state, approval)} requests approval: ${call}, ${approvalTrust(approval)}, number ${number}.`;
      return [{ text: `${asks} Type: approvals ${number}`, weight: 'rings' }];
    }
    if (before === undefined || announcement.decided.has(id)) return [];
    return [
      { text: `Approval ${announcement.callNumber(id)}, ${call}: ${status}.`, weight: 'heard' },
    ];
  },
});

/** Approvals have announcements of their own. */
const ofNeeds: NewsSource<Need> = {
  // Several stages of one run may wait.
  mark: ({ kind, id, title }) => [`need ${kind} ${id} ${kind === 'stage' ? title : ''}`, ''],
  news: ({ kind, title, detail }) =>
    kind === 'approval' ? [] : [{ text: `${kind}: ${title}, ${detail}`, weight: 'rings' }],
};

const UNDER_WAY = ['queued', 'running'];

/**
 * Announces the outcome of each execution once. Older executions are loaded too, but are not news.
 */
const ofRuns = ({ lists }: State, since: string): NewsSource<StreamEntry> => ({
  mark: ({ kind, data }) => [`run ${String(data.id)} ${kind}`, ''],
  news: ({ kind, at, data }) => {
    if (at < since || UNDER_WAY.includes(kind)) return [];
    const hook = data.hookName ?? lists.hooks.byId[String(data.hookId)]?.name ?? 'a hook';
    const words = [data.event, kind, data.error].filter(Boolean).map(String);
    return [{ text: `${String(hook)}: ${words.join(', ')}`, weight: 'heard' }];
  },
});

/** An agent that waits for approval is not news: its call is announced. */
const ofAgents = (since: string): NewsSource<Agent> => ({
  mark: ({ id, status }) => [`agent ${id}`, status],
  news: ({ name, status, createdAt }, before) => {
    const isOld = before === undefined && createdAt < since;
    if (isOld || status === 'waiting_approval') return [];
    return [{ text: `${name}: ${status}`, weight: 'heard' }];
  },
});
