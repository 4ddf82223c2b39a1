import { StartError } from '@troupe/kernel';

/** What lets agents of a swarm be on any of its nodes. */
export interface Spread {
  /** An overlay network that the platform is in, too. */
  network: string;
  /** Of volumes that every node reaches. */
  driver: string;
  driverOptions: Record<string, string>;
}

export interface SpreadSettings {
  SWARM_NETWORK?: string | undefined;
  SWARM_VOLUME_DRIVER?: string | undefined;
  SWARM_VOLUME_OPTIONS?: string | undefined;
}

/** Undefined: agents stay on one node. Throws a StartError where the settings contradict each other. */
export function spreadOf(settings: SpreadSettings): Spread | undefined {
  const { SWARM_NETWORK: network, SWARM_VOLUME_DRIVER: driver, SWARM_VOLUME_OPTIONS: options } = settings;
  if (network === undefined && driver === undefined) return undefined;
  if (network === undefined || driver === undefined)
    throw new StartError(
      'SWARM_NETWORK and SWARM_VOLUME_DRIVER go together: agents on any node need a network to be reached over, and volumes that every node reaches.',
    );
  if (driver === 'local')
    throw new StartError(
      'SWARM_VOLUME_DRIVER=local keeps data on one node: name a driver whose volumes every node reaches, or leave both settings out.',
    );
  return { network, driver, driverOptions: readOptions(options ?? '') };
}

/** `name=value name=value`: values of such drivers have commas. */
function readOptions(text: string): Record<string, string> {
  const pairs = text.split(/\s+/).filter(Boolean);
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new StartError('SWARM_VOLUME_OPTIONS: expected name=value name=value');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}
