import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import tls from 'node:tls';

/**
 * Trusts an authority in this process, like NODE_EXTRA_CA_CERTS at a start. Returns a function that
 * ends it.
 */
export const trustAuthority = (file: string): (() => void) => {
  const original = tls.createSecureContext;
  const certificate = readFileSync(file);
  tls.createSecureContext = (options) => {
    const made = original(options);
    made.context.addCACert(certificate);
    return made;
  };
  syncBuiltinESMExports();
  return () => {
    tls.createSecureContext = original;
    syncBuiltinESMExports();
  };
};
