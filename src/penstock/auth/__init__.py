"""Authentication, permissions and quotas: users, their credentials, and what they may do.

    rights        rights, roles and grants, and their text form: `publish orders.*`
    quotas        how much a user may use, and the meter that throttles
    tokens        created once, shown once, stored as a hash
    user          one user, with cached permission decisions
    authorizer    the permissions that each operation needs
    directory     all users of one broker; finds the user for a credential
    pending       connections that have not authenticated yet, and which of them is closed first
    throttle      failed authentications: how long to wait after them
    users         changes to users, by command or over HTTP
    file          the users file
    oidc          tokens of an identity provider
    jwks          the public keys of an identity provider
    passwords     for the console; slow on purpose, so never on the event loop
    certificates  the names in a client certificate
    self_signed   certificates for development

Modules used on the message path are compiled; those that read files or handle passwords are not.
"""
