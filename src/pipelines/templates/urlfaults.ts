import { placeholdersIn } from '../../hooks/module.js';
import type { FieldFault } from '../../kernel/problem.js';

type RefusalOf = (url: string) => string | null;

const PLACEHOLDER = /\{\{[^{}]*\}\}/g;

/** Checks the host of an address if it contains no placeholders. */
export const urlFaults = (url: unknown, path: string, refusalOf: RefusalOf): FieldFault[] => {
  if (typeof url !== 'string') return [];
  const message = faultOfUrl(url.trim(), refusalOf);
  return message === null ? [] : [{ path, message }];
};

const faultOfUrl = (url: string, refusalOf: RefusalOf): string | null => {
  const refusal = (address: string): string | null => {
    const reason = refusalOf(address);
    return reason === null ? null : `cannot be requested: ${reason}`;
  };
  if (placeholdersIn(url).length === 0) return refusal(url);
  const before = url.slice(0, url.search(PLACEHOLDER));
  const isOpen = ['http://', 'https://'].some((start) => start.startsWith(before.toLowerCase()));
  if (isOpen) return null;
  if (!/^https?:\/\//i.test(before))
    return 'must be an address that starts with http:// or https://';
  const hasHost = /^https?:\/\/[^/?#]+[/?#]/i.test(before);
  return hasHost ? refusal(url.replace(PLACEHOLDER, 'x')) : null;
};
