import { describeDomains } from '../kernel/asciidomain.js';
import type { CallDetail } from '../kernel/contract/approval.js';

/** Escapes characters that hide text or change its direction. */
export const escapeHidden = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`,
  );

/** JSON in one line without characters that hide text. */
export const formatVisible = (value: unknown): string => escapeHidden(JSON.stringify(value));

/** One detail or argument per line. No text can begin a line. */
export const formatCall = (
  name: string,
  args: Record<string, unknown>,
  details: readonly CallDetail[] = [],
): string[] => [
  name,
  ...details.map((detail) => `${detail.name}: ${formatVisible(detail.value)}`),
  ...Object.entries(args).map(
    ([name, value]) => `  ${formatVisible(name)}: ${formatVisible(value)}`,
  ),
  ...describeDomains(args),
];
