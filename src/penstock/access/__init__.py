"""Who a client is, what it may do, and how much of it: users, their tokens, rights and quotas.

    rights      what may be granted, and a grant as people write it: `publish orders.*`
    quotas      how much a user may use, and the meter that says when it is too much
    tokens      made once, shown once, known by their hash alone
    user        one user, with what was decided for it already
    directory   all users of one broker: who presents this token, this certificate?
    lobby       connections of nobody in particular yet: how many from where, and who failed before
    places      what there is a number of, shared so that nobody has more than are left for others
    users       the changes that people make
    file        where it is kept
    passwords   for people at the console; slow on purpose, so never on the event loop
    certificates  the names a client certificate gives its holder

What is used while messages flow is compiled; what reads files or works on passwords is not.
"""
