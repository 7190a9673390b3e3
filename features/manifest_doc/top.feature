Feature: The keys at the top of a manifest
  Who the extension is, which API version it speaks, and for which hosts it was made.

  @0.1 @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-TOP-001
    Examples:
      | what     |
      | the name |

    @MAN-TOP-002
    Examples:
      | what                      |
      | the name of its directory |

    @MAN-TOP-003
    Examples:
      | what        |
      | the version |

    @MAN-TOP-004
    Examples:
      | what            |
      | the API version |

    @MAN-TOP-006
    Examples:
      | what            |
      | the description |

    @MAN-TOP-007
    Examples:
      | what                         |
      | the table of the entry point |

    @MAN-TOP-008
    Examples:
      | what                 |
      | the tables beside it |

    @MAN-HOST-002
    Examples:
      | what                                           |
      | the spelling of the octet versions it requires |

    @MAN-HOST-003
    Examples:
      | what                           |
      | the octet versions it requires |
