import { formatNoticeHeadline } from '../kernel/contract/headline.js';
import { pageLink } from '../kernel/pagepath.js';
import { noticeKind } from './noticekinds.js';

export interface NoticeGroup {
  kind: string;
  /** null if the subject has no name. */
  about: string | null;
  count: number;
  /** Id of the newest; `title` and `body` belong to it. */
  last: string;
  title: string;
  body: string;
}

/** Names shown in a digest. */
const MAX_NAMES = 5;

/**
 * `100 hook failures in 10 minutes: deploy-notify 60, stripe 40` and the last headline. `told` were
 * sent individually before.
 */
export const digestText = (groups: NoticeGroup[], when: string, sentBefore: number) => {
  const [kind = '', ...others] = new Set(groups.map((group) => group.kind));
  const total = sumGroupCounts(groups);
  if (others.length > 0) {
    const lines = [kind, ...others].map((each) => formatDigestLine(groups, each));
    const link = pageLink('notifications');
    return { title: `${total} messages ${when}`, body: lines.join('\n'), link };
  }
  const more = sentBefore > 0 ? 'more ' : '';
  return {
    title: `${total} ${more}${formatKindName(kind, total)} ${when}${formatTopNames(groups)}`,
    body: `last: ${formatLastHeadline(groups)}`,
    link: pageLink('notifications'),
  };
};

/** `in 10 minutes`. */
export const within = (ms: number): string => {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (minutes === 1) return 'in a minute';
  return minutes < 120 ? `in ${minutes} minutes` : `in ${Math.round(minutes / 60)} hours`;
};

export const sumGroupCounts = (groups: NoticeGroup[]): number =>
  groups.reduce((sum, { count }) => sum + count, 0);

const formatDigestLine = (groups: NoticeGroup[], kind: string): string => {
  const ofKind = groups.filter((group) => group.kind === kind);
  const total = sumGroupCounts(ofKind);
  return `${total} ${formatKindName(kind, total)}${formatTopNames(ofKind)}; last: ${formatLastHeadline(ofKind)}`;
};

const formatKindName = (kind: string, count: number): string => {
  const [one, many] = noticeKind(kind).names;
  return count === 1 ? one : many;
};

const formatTopNames = (groups: NoticeGroup[]): string => {
  const named = groups.filter(({ about }) => about !== null);
  if (named.length === 0) return '';
  const byCount = named.toSorted((a, b) => b.count - a.count);
  const names = byCount.slice(0, MAX_NAMES).map(({ about, count }) => `${about} ${count}`);
  const rest = sumGroupCounts(groups) - sumGroupCounts(byCount.slice(0, MAX_NAMES));
  return `: ${[...names, ...(rest > 0 ? [`others ${rest}`] : [])].join(', ')}`;
};

const formatLastHeadline = (groups: NoticeGroup[]): string =>
  formatNoticeHeadline(
    groups.reduce((newest, group) => (group.last > newest.last ? group : newest)),
  );
