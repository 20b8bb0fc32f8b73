# A tracker in the folder that RT_LAB names: on loopback, in a file, without mail.
Set($rtname, 'lab');
Set($Organization, 'lab');
Set($WebDomain, '127.0.0.1');
Set($WebPort, $ENV{RT_LAB_PORT});
Set($DatabaseType, 'SQLite');
Set($DatabaseName, "$ENV{RT_LAB}/rt.sqlite");
Set($MailCommand, 'sendmailpipe');
Set($SendmailPath, '/bin/true');
Set($BcryptCost, 4);    # of each request's token: else most of a test's time
Set($LogToSyslog, undef);
Set($LogToSTDERR, 'warning');
Set($TerminusUrl, "http://127.0.0.1:$ENV{RT_LAB_HOOK}/intake/desk");
Set($TerminusSecret, $ENV{RT_LAB_SECRET});
1;
