import { IMAGE } from '@troupe/testing/kubernetes/images';
import type { Grounds } from '../testing.ts';
import type { Cluster, KubernetesDeps } from './kubernetes.ts';

export const kubernetesDeps = (grounds: Grounds, cluster: Cluster): KubernetesDeps => ({
  cluster,
  roster: grounds.roster,
  log: grounds.runtime.log,
  version: '1.0.0',
  image: IMAGE,
  // Nobody listens there: agents in these tests think with the sandbox of their own.
  platformUrl: () => undefined,
  privateHosts: [],
  sessionSecret: 'secret-of-sessions',
  verify: grounds.verify,
  storageClass: undefined,
});
