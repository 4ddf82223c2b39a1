/** As much of it as is used. */
declare module 'semver' {
  interface Options {
    loose?: boolean;
  }
  const semver: {
    valid: (version: string, options?: Options) => string | null;
    validRange: (range: string, options?: Options) => string | null;
    satisfies: (version: string, range: string, options?: Options) => boolean;
    rcompare: (a: string, b: string, options?: Options) => number;
  };
  export default semver;
}
