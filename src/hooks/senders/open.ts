import type { SenderVerification } from './contract.js';
import { PRESETS } from './presets.js';
import type { SignatureRecipe } from './recipe.js';

export interface Sender {
  /** Equal for hooks that verify and identify deliveries in the same way. */
  name: string;
  recipe: SignatureRecipe;
}

export const resolveSender = (verify: SenderVerification): Sender => {
  if (typeof verify === 'string') return { name: verify, recipe: PRESETS[verify] };
  return { name: JSON.stringify(verify), recipe: createSignatureRecipe(verify) };
};

export const createSignatureRecipe = (verify: SenderVerification): SignatureRecipe => {
  if (typeof verify === 'string') return PRESETS[verify];
  const { preset, header, timestampHeader, idFrom, eventFrom, ...rest } = verify;
  if (preset !== undefined) return { ...PRESETS[preset], ...rest };
  const { algorithm = 'sha256', signed = '{body}' } = verify;
  const isSigned = algorithm !== 'token' && algorithm !== 'basic';
  const recipe: SignatureRecipe = {
    ...rest,
    algorithm,
    header: (header ?? 'authorization').toLowerCase(),
    ...(isSigned && { signed }),
    ...(timestampHeader && { timestampHeader: timestampHeader.toLowerCase() }),
    ...(idFrom && { idFrom: normalizeFieldPath(idFrom) }),
    ...(eventFrom && { eventFrom: normalizeFieldPath(eventFrom) }),
  };
  return isJsonNeeded(recipe) ? { bodies: ['json'], ...recipe } : recipe;
};

/**
 * True if a body other than JSON would be ambiguous: its ID or time is read from the body, or no
 * separator follows a signed time or ID.
 */
export const isJsonNeeded = ({
  idFrom,
  timestampFrom,
  signed = '',
}: Pick<SignatureRecipe, 'idFrom' | 'timestampFrom' | 'signed'>): boolean =>
  idFrom?.startsWith('body.') === true ||
  timestampFrom !== undefined ||
  /\{(?:timestamp|id)\}\{body\}|\{body\}\{(?:timestamp|id)\}/.test(signed);

const normalizeFieldPath = (place: string): string =>
  place.startsWith('headers.') ? place.toLowerCase() : place;
