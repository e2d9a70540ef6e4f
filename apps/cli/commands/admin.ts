import type { Command } from 'commander'
import { acts, type Shell } from '../shell.ts'

export function adminCommands(shell: Shell, program: Command): void {
  const admin = program.command('admin').description('work on a deployment in AWS, with AWS credentials')
  const command = admin
    .command('bootstrap')
    .description('make the first person of a deployment and print their key, once')
    .option('--stack <name>', 'the CloudFormation stack', 'Rouse-dev')
    .option('--name <name>', 'how the person is called', 'owner')
    .option('--tz <zone>', 'their time zone', 'UTC')
  acts<{ stack: string; name: string; tz: string }>(
    shell,
    command,
    { example: 'rouse admin bootstrap --stack Rouse-prod --name owner --tz Europe/Amsterdam' },
    async (options) => {
      // The AWS SDK is a second of loading that no other command waits for.
      const { bootstrap } = await import('../bootstrap.ts')
      return await bootstrap(options, shell.io)
    },
  )
}
