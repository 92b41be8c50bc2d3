import type { FieldFault } from '../../kernel/problem.js';
import type { SenderVerification } from './contract.js';
import { createSignatureRecipe, isJsonNeeded } from './open.js';
import {
  PLACEHOLDERS,
  parseSignedTemplate,
  type SignatureEncoding,
  type SignatureRecipe,
} from './recipe.js';
import { ed25519Bytes, keyLength } from './verify.js';

const SIGNATURE_FIELDS = [
  ...(['encoding', 'signed', 'timestampHeader', 'timestampFrom', 'toleranceSeconds'] as const),
  ...(['key', 'format', 'parts'] as const),
];
const PRESET_FIELDS = ['preset', 'toleranceSeconds', 'topicArn'];
/** In bytes. */
const MIN_SECRET_LENGTH = 8;

/** Path '' means the whole object. `hasAddress`: the daemon has a public URL. */
export const verificationFaults = (
  verify: SenderVerification,
  hasAddress: boolean,
): FieldFault[] => {
  const recipe = createSignatureRecipe(verify);
  const own = typeof verify === 'string' ? [] : describedFaults(verify, recipe);
  if (own.length > 0) return own;
  const isSns = recipe.algorithm === 'sns';
  if (!isSns && recipe.topicArn !== undefined) {
    return [{ path: 'topicArn', message: 'is only for the preset sns' }];
  }
  const isTopicless = isSns && recipe.topicArn === undefined;
  if (isTopicless)
    return [{ path: 'topicArn', message: 'is required: { preset: "sns", topicArn }' }];
  const needsAddress = recipe.signed?.includes('{url}') === true && !hasAddress;
  const message = 'needs the public URL of the daemon, which has none. Run: adjutant tunnel setup';
  return needsAddress ? [{ path: '', message }] : [];
};

export const faultOfSenderSecret = (
  verify: SenderVerification,
  secret: string | undefined,
): string | null => {
  const recipe = createSignatureRecipe(verify);
  const { algorithm, encoding = 'hex' } = recipe;
  if (secret === undefined || secret.trim() === '' || algorithm === 'sns') return null;
  if (algorithm === 'ed25519') {
    const isKey = ed25519Bytes(secret, encoding) !== null;
    return isKey ? null : `must be the sender's public key, 32 bytes as ${KEY_FORMATS[encoding]}`;
  }
  if (algorithm === 'basic' && !secret.includes(':')) return 'must be user:password';
  const length = keyLength(recipe, secret);
  if (length === 0) return 'must be base64';
  return length < MIN_SECRET_LENGTH ? `must have at least ${MIN_SECRET_LENGTH} bytes` : null;
};

const KEY_FORMATS: Record<SignatureEncoding, string> = {
  hex: '64 hexadecimal digits',
  base64: 'base64',
  base64url: 'base64url',
};

type OwnSignature = Exclude<SenderVerification, string>;

const describedFaults = (verify: OwnSignature, recipe: SignatureRecipe): FieldFault[] => {
  if (verify.preset !== undefined) {
    const given = Object.keys(verify)
      .filter((field) => !PRESET_FIELDS.includes(field))
      .map((path): FieldFault => ({ path, message: 'is defined by the preset. Remove it' }));
    return [...given, ...timeFaults(recipe)];
  }
  const { algorithm } = recipe;
  if (algorithm === 'token' || algorithm === 'basic') return tokenFaults(verify);
  const faults: FieldFault[] = [];
  if (verify.header === undefined) faults.push({ path: 'header', message: 'is required' });
  return [
    ...faults,
    ...signedFaults(recipe),
    ...timeFaults(recipe),
    ...bodyFaults(recipe),
    ...formatFaults(recipe),
  ];
};

const tokenFaults = (verify: OwnSignature): FieldFault[] => {
  const inapplicable = SIGNATURE_FIELDS.filter((field) => verify[field] !== undefined);
  const faults = inapplicable.map(
    (path): FieldFault => ({ path, message: 'applies only to signatures, not to tokens' }),
  );
  const isHeaderless = verify.algorithm === 'token' && verify.header === undefined;
  return isHeaderless ? [...faults, { path: 'header', message: 'is required' }] : faults;
};

const signedFaults = ({ signed = '', idFrom, ...recipe }: SignatureRecipe): FieldFault[] => {
  const path = 'signed';
  const pieces = parseSignedTemplate(signed);
  if (!pieces) {
    const known = PLACEHOLDERS.map((name) => `{${name}}`).join(', ');
    return [{ path, message: `has an unknown placeholder. Known placeholders: ${known}` }];
  }
  const names = pieces.map((piece) => ('placeholder' in piece ? piece.placeholder : null));
  const faults: FieldFault[] = [];
  if (!names.includes('body') && !names.includes('form')) {
    faults.push({
      path,
      message: 'must contain {body} or {form}. Otherwise the signature does not protect the body',
    });
  }
  const hasTime = recipe.timestampHeader !== undefined || recipe.parts !== undefined;
  if (names.includes('timestamp') && !hasTime) {
    faults.push({ path: 'timestampHeader', message: 'is required because {timestamp} is signed' });
  }
  if (names.includes('id') && !idFrom?.startsWith('headers.')) {
    faults.push({ path: 'idFrom', message: 'must be headers.<name> because {id} is signed' });
  }
  return faults;
};

/** A time that is not signed would not be checked. */
const timeFaults = ({
  signed = '',
  timestampHeader,
  timestampFrom,
  toleranceSeconds,
}: SignatureRecipe): FieldFault[] => {
  const faults: FieldFault[] = [];
  const isSigned = signed.includes('{timestamp}');
  if (timestampHeader !== undefined && !isSigned) {
    const message = 'is not signed. Add {timestamp} to signed';
    faults.push({ path: 'timestampHeader', message });
  }
  if (toleranceSeconds !== undefined && !isSigned && timestampFrom === undefined) {
    faults.push({ path: 'toleranceSeconds', message: 'applies only to a signed time' });
  }
  return faults;
};

const bodyFaults = (recipe: SignatureRecipe): FieldFault[] => {
  const isJsonAlone = recipe.bodies?.every((form) => form === 'json') ?? true;
  if (isJsonAlone || !isJsonNeeded(recipe)) return [];
  const message =
    'must be ["json"] if {timestamp} or {id} is adjacent to {body}, or if a field is read from the body';
  return [{ path: 'bodies', message }];
};

const formatFaults = ({ format, parts }: SignatureRecipe): FieldFault[] => {
  if (format === 'pairs' && !parts)
    return [{ path: 'parts', message: 'is required for the format pairs' }];
  return parts && format !== 'pairs'
    ? [{ path: 'parts', message: 'applies only to the format pairs' }]
    : [];
};
