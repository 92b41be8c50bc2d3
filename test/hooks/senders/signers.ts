import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { SenderVerification } from '../../../src/hooks/senders/contract.js';
import { PRESET_NAMES } from '../../../src/hooks/senders/presets.js';
import { projectRoot } from '../../harness/sources.js';
import { descriptions } from './descriptions.js';

/** A request that the script signed. */
export interface ScriptedRequest {
  /** What follows the address. */
  query: string;
  headers: Record<string, string>;
  /** In base64. */
  body: string;
}

/** A sender of the script, with its one right request and the wrong ones by name. */
export interface ScriptedSender {
  sender: string;
  secret: string;
  requests: { valid: ScriptedRequest } & Record<string, ScriptedRequest>;
}

/**
 * Signs requests with `signers.py`, which shares no code with the project. In the address
 * `<sender>` is replaced; `at` is in milliseconds since 1970.
 */
export const signedByScript = (url: string, at: number): ScriptedSender[] => {
  const input = JSON.stringify({ url, now: Math.floor(at / 1000) });
  const script = join(projectRoot(), 'test/hooks/senders/signers.py');
  return JSON.parse(execFileSync('python3', [script], { input, encoding: 'utf8' }));
};

/** The `verify` of a hook for a sender of the script: `github-form` is a variant of `github`. */
export const verifyOf = (sender: string): SenderVerification => {
  const preset = PRESET_NAMES.find((name) => name === sender.replace(/-(?:form|json)$/, ''));
  const found = preset ?? descriptions[sender];
  if (found === undefined) throw new Error(`Nothing says how ${sender} signs`);
  return found;
};
