import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Overview } from '../../src/system/overview/contract.js';
import type { Loaded } from './load.js';

export const OverviewContext = createContext<Loaded<Overview> | null>(null);

export const useOverview = (): Loaded<Overview> | null => useContext(OverviewContext);

/** Maximum items of a kind in the overview. With so many there may be more. */
export const MAX_NEEDS_PER_KIND = 10;
const MAX_UNREAD = 99;

/** Number of pending calls as text. Empty if there is none. */
export const approvalCount = (overview: Loaded<Overview> | null): string => {
  const needs = overview?.data?.needs ?? [];
  const count = needs.filter(({ kind }) => kind === 'approval').length;
  return shortCount(count, MAX_NEEDS_PER_KIND - 1);
};

/** Number of unread notifications as text. Empty if there is none. */
export const unreadCount = (overview: Loaded<Overview> | null): string =>
  shortCount(overview?.data?.unread ?? 0, MAX_UNREAD);

const shortCount = (count: number, most: number): string => {
  if (count === 0) return '';
  return count > most ? `${most}+` : String(count);
};
