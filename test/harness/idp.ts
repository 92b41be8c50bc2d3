import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

const require = createRequire(import.meta.url);
const samlp: Samlp = require('samlp');
/** The signer of samlp, for responses that its options cannot make. */
const { SignedXml }: { SignedXml: SignedXmlClass } = createRequire(require.resolve('samlp'))(
  'xml-crypto',
);

interface SamlConfig {
  [option: string]: unknown;
}
interface ParsedRequest {
  id: string;
  issuer: string;
  assertionConsumerServiceURL: string;
}
interface Samlp {
  parseRequest(request: object, done: (error: Error | null, parsed: ParsedRequest) => void): void;
  auth(
    config: SamlConfig,
  ): (request: object, response: object, next: (error?: Error) => void) => void;
  getSamlResponse(
    config: SamlConfig,
    user: IdpUser,
    done: (error: Error | null, response: string) => void,
  ): void;
}
interface SignedXmlClass {
  new (
    idMode: null,
    options: { signatureAlgorithm: string },
  ): {
    signingKey: string;
    keyInfoProvider: { getKeyInfo(): string };
    addReference(xpath: string, transforms: string[], digest: string): void;
    computeSignature(xml: string, options: { location: object }): void;
    getSignedXml(): string;
  };
}

export interface IdpUser {
  id: string;
  displayName: string;
  name: { givenName: string; familyName: string };
  emails: { value: string }[];
  groups?: string[];
}

export const idpUser = (id: string, more: Partial<IdpUser> = {}): IdpUser => ({
  id,
  displayName: 'Grace Hopper',
  name: { givenName: 'Grace', familyName: 'Hopper' },
  emails: [{ value: 'grace@acme.example' }],
  ...more,
});

export interface KeyPair {
  key: string;
  certificate: string;
}

export const createKeyPair = (): KeyPair => {
  const made = execFileSync(
    'openssl',
    'req -x509 -newkey rsa:2048 -nodes -keyout - -days 2 -subj /CN=idp.acme.example'.split(' '),
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const at = made.indexOf('-----BEGIN CERTIFICATE');
  return { key: made.slice(0, at), certificate: made.slice(at) };
};

export interface SamlForm {
  SAMLResponse: string;
  RelayState: string;
}

/** A response of any content, signed afterwards. */
export interface ResponseOptions {
  acs: string;
  audience: string;
  user: IdpUser;
  inResponseTo?: string;
  lifetimeInSeconds?: number;
  /** Changes the response before it is signed. */
  edit?: (xml: string) => string;
  signs?: ('Assertion' | 'Response')[];
  algorithm?: 'sha1' | 'sha256';
  keys?: KeyPair;
}

const ALGORITHMS = {
  sha1: ['http://www.w3.org/2000/09/xmldsig#rsa-sha1', 'http://www.w3.org/2000/09/xmldsig#sha1'],
  sha256: [
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    'http://www.w3.org/2001/04/xmlenc#sha256',
  ],
};

/**
 * An identity provider on its own port, by samlp. Browsers get its form, other clients the fields as
 * JSON.
 */
export const startIdp = async (entityId: string, keys: KeyPair) => {
  const idp: { user: IdpUser; keys: KeyPair; edit: ResponseOptions['edit'] } = {
    user: idpUser('grace'),
    keys,
    edit: undefined,
  };
  const configFor = (acs: string) => {
    const { certificate: cert, key } = idp.keys;
    return { issuer: entityId, cert, key, recipient: acs, destination: acs };
  };
  const respond = async (options: ResponseOptions): Promise<string> => {
    const { edit = (xml: string) => xml, signs = ['Assertion'], acs, user, ...rest } = options;
    const { algorithm = 'sha256', keys: own = idp.keys } = options;
    const unsigned = await new Promise<string>((resolve, reject) => {
      samlp.getSamlResponse(
        { ...configFor(acs), ...rest, signAssertion: false },
        user,
        (error, xml) => (error ? reject(error) : resolve(xml)),
      );
    });
    const flat = unsigned.replace(/>\s+</g, '><').trim();
    return signs.reduce(
      (xml, name) => signElement(xml, name, { algorithm, keys: own }),
      edit(flat),
    );
  };
  const answer = async (query: Record<string, string>) => {
    const shim = { method: 'GET', query, user: idp.user };
    const request = await new Promise<ParsedRequest>((resolve, reject) => {
      samlp.parseRequest(shim, (error, parsed) => (error ? reject(error) : resolve(parsed)));
    });
    const { id, issuer: audience, assertionConsumerServiceURL: acs } = request;
    const { edit, user } = idp;
    const xml = edit
      ? await respond({ acs, audience, user, inResponseTo: id, edit })
      : await new Promise<Buffer>((resolve, reject) => {
          const getPostURL = (
            ...[, , , done]: [unknown, unknown, unknown, (error: null, url: string) => void]
          ) => done(null, acs);
          samlp.auth({ ...configFor(acs), getPostURL, responseHandler: resolve })(shim, {}, reject);
        });
    const SAMLResponse = Buffer.from(xml as string).toString('base64');
    return { acs, fields: { SAMLResponse, RelayState: query.RelayState ?? '' } };
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://idp');
    const isBrowser = String(request.headers.accept).includes('text/html');
    answer(Object.fromEntries(url.searchParams)).then(
      ({ acs, fields }) => {
        const type = isBrowser ? 'text/html' : 'application/json';
        response.writeHead(200, { 'content-type': type });
        response.end(isBrowser ? formPage(acs, fields) : JSON.stringify(fields));
      },
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    entityId,
    ssoUrl: `http://127.0.0.1:${port}/login`,
    certificate: keys.certificate,
    /** Logs in that user from now on. */
    logIn: (user: IdpUser) => {
      idp.user = user;
    },
    /** Signs with other keys from now on. */
    setKeys: (next: KeyPair) => {
      idp.keys = next;
    },
    /** Changes responses before they are signed, from now on. */
    setEdit: (edit: ResponseOptions['edit']) => {
      idp.edit = edit;
    },
    respond,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** Sends the form at once, as identity providers do in a browser. */
const formPage = (acs: string, fields: SamlForm): string => {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
  );
  return `<form method="post" action="${acs}">${inputs.join('')}</form>
    <script>document.forms[0].submit()</script>`;
};

export type Idp = Awaited<ReturnType<typeof startIdp>>;

const signElement = (
  xml: string,
  name: string,
  { algorithm, keys }: { algorithm: 'sha1' | 'sha256'; keys: KeyPair },
): string => {
  const [signatureAlgorithm = '', digest = ''] = ALGORITHMS[algorithm];
  const signed = new SignedXml(null, { signatureAlgorithm });
  signed.addReference(
    `//*[local-name(.)='${name}']`,
    [
      'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
      'http://www.w3.org/2001/10/xml-exc-c14n#',
    ],
    digest,
  );
  signed.signingKey = keys.key;
  const base64 = keys.certificate.replace(/-----[^-]+-----|\s/g, '');
  signed.keyInfoProvider = {
    getKeyInfo: () => `<X509Data><X509Certificate>${base64}</X509Certificate></X509Data>`,
  };
  const reference = `//*[local-name(.)='${name}']/*[local-name(.)='Issuer']`;
  signed.computeSignature(xml, { location: { reference, action: 'after' } });
  return signed.getSignedXml();
};
